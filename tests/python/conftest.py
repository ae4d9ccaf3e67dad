import os
import pathlib

import pytest

SOURCE = pathlib.Path(os.environ["SIMTLAB_SOURCE_DIR"])


@pytest.fixture
def examples():
    return SOURCE / "examples"


@pytest.fixture
def saxpy(examples):
    """Words for run(): 16384 threads on a small GPU."""
    return [examples / "saxpy.ptx"], {
        "grid": "64",
        "block": "256",
        "arg": ["u32:16384", "f32:2", "buffer:16384:f32:iota", "buffer:16384:f32:random"],
        "gpu": "v100",
        "set": {"sm.count": 4},
    }


@pytest.fixture
def spin(tmp_path):
    """A kernel that ends in hours, and nobody can say that it does not: it counts."""
    path = tmp_path / "spin.ptx"
    path.write_text(
        """.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 flag)
{
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [flag];
  mov.u32 %r2, 0;
AGAIN:
  ld.volatile.global.u32 %r1, [%rd1];
  add.u32 %r2, %r2, 1; shr.u32 %r3, %r2, 31; or.b32 %r1, %r1, %r3;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  ret;
}
"""
    )
    return [path], {"grid": "1", "block": "32", "arg": "buffer:1:u32:zero", "gpu": "v100"}
