"""Whatever is given: a result or an error of ours, never anything else."""
import hypothesis
import hypothesis.strategies as st
import simtlab
from simtlab.call import options_of

settings = hypothesis.settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(hypothesis.HealthCheck)
)
plain = st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=30)


def dram(**options):
    try:
        return simtlab.dram(**options)
    except simtlab.Error as error:
        assert error.code in (2, 3, 4) and error.id and str(error) and error.text.endswith("\n"), (
            error.code,
            error.text,
        )
        return None


@settings
@hypothesis.given(
    st.dictionaries(plain.filter(lambda k: "=" not in k), st.one_of(plain, st.integers(), st.floats()), max_size=3)
)
def test_any_setting(settings_of_memory):
    dram(dram="ddr4-3200", generate="stream", requests=10, set=settings_of_memory)


@settings
@hypothesis.given(plain, plain, st.integers(), st.floats())
def test_any_text_and_number(memory, traffic, requests, share):
    dram(dram=memory, generate=traffic, requests=requests)
    dram(dram="ddr4-3200", generate="random", requests=50, read_share=share)


@settings
@hypothesis.given(
    st.sampled_from(["ddr3-1600", "ddr4-3200", "hbm2-2000", "pcm-800"]),
    st.sampled_from(["stream", "random"]),
    st.integers(1, 3000),
    st.integers(0, 2**32),
)
def test_laws_of_memories(memory, traffic, requests, seed):
    result = dram(dram=memory, generate=traffic, requests=requests, seed=seed, read_share=1)
    assert result is not None
    assert 0 < result.metric("dram.bandwidth.share") <= 1
    assert result.metric("dram.read.latency.mean") > 0
    again = dram(dram=memory, generate=traffic, requests=requests, seed=seed, read_share=1)
    assert {k: v for k, v in again["total"].items() if not k.startswith("host.")} == {
        k: v for k, v in result["total"].items() if not k.startswith("host.")
    }


@settings
@hypothesis.given(st.one_of(st.none(), plain, st.integers(), st.floats()), st.booleans(), st.lists(plain, max_size=3))
def test_options_keep_what_was_given(value, flag, several):
    options = options_of([("gpu", "gpu", value, 1), ("lines", "lines", flag, 0), ("arg", "arg", several, -1)])
    assert options == (
        ([] if value is None else [("gpu", str(value))])
        + ([("lines", "true")] if flag else [])
        + [("arg", v) for v in several]
    )


@settings
@hypothesis.given(st.binary(max_size=300))
def test_any_bytes_as_a_kernel(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.ptx"
    path.write_bytes(content)
    try:
        simtlab.run(path, grid="1", block="1", mode="functional", max_time=5)
    except simtlab.Error as error:
        assert error.code in (3, 4)
