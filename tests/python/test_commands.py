"""The commands as functions: results, errors, progress, threads."""
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest
import simtlab


def lasting(result):
    """All but what differs from run to run."""
    copy = json.loads(result.text)
    for key in ("start_time", "wall_time_s", "host"):
        copy["manifest"].pop(key, None)
    copy["total"] = {k: v for k, v in copy["total"].items() if not k.startswith("host.")}
    return copy


def test_a_run_is_a_dict_and_a_table(saxpy):
    what, options = saxpy
    result = simtlab.run(*what, **options)
    assert isinstance(result, dict) and result["schema"] == 1
    assert result.metric("gpu.time") > 0 and result.unit("gpu.time") == "ns"
    assert result.metric("gpu.instructions.thread", "saxpy") == result.metrics(0)["gpu.instructions.thread"] > 16384
    frame = result.frame()
    assert list(frame["name"]) == ["saxpy"]
    assert frame["gpu.time"][0] == result.metric("gpu.time", 0)
    assert frame.attrs["units"]["gpu.time"] == "ns"
    with pytest.raises(KeyError):
        result.metric("no.such.metric")
    with pytest.raises(KeyError):
        result.metric("gpu.time", "no_such_kernel")


def test_words_and_results_are_explained(saxpy, tmp_path):
    assert "sectors" in simtlab.explain("access.sectors")
    assert "round" in simtlab.explain("lrr")
    with pytest.raises(simtlab.UsageError):
        simtlab.explain("no such word at all")
    what, options = saxpy
    (tmp_path / "r.json").write_text(simtlab.run(*what, **options).text)
    assert "saxpy" in simtlab.explain(tmp_path / "r.json")
    with pytest.raises(TypeError):
        simtlab.explain(3.5j)


def test_a_study_at_many_points(saxpy, tmp_path):
    what, options = saxpy
    command = ["run", *what, "--grid=64", "--block=256", *(f"--arg={a}" for a in options["arg"])]
    seen = []
    study = simtlab.sweep(
        command=command,
        axis=["gpu=[v100,k40]", "sm.count=[2,4]"],
        metric="gpu.time",
        db=tmp_path / "s.db",
        jobs=2,
        progress=lambda activity, seconds: seen.append(activity),
        progress_interval=0.01,
    )
    assert [p["state"] for p in study["points"]] == ["done"] * 4
    assert "4 points, 4 done" in study.report
    assert any("points done" in text for text in seen)
    again = simtlab.sweep(
        command=command, axis=["gpu=[v100,k40]", "sm.count=[2,4]"], metric="gpu.time", db=tmp_path / "s.db"
    )
    assert again["points"] == study["points"]
    with pytest.raises(simtlab.UsageError):
        simtlab.sweep(command=command, axis="smcount=[1,2]", db=tmp_path / "t.db")


def test_the_report_is_that_of_the_tool(saxpy, tmp_path):
    what, options = saxpy
    result = simtlab.run(*what, **options)
    result.save(tmp_path / "r.json")
    printed = subprocess.run(
        [os.environ["SIMTLAB"], "report", tmp_path / "r.json"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    ).stdout
    assert "saxpy" in printed and result.report.splitlines()[1:8] == printed.splitlines()[1:8]


def test_pandas_is_loaded_when_a_table_is_asked_for():
    code = "import sys, simtlab; assert 'pandas' not in sys.modules and 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-B", "-c", code], check=True)


def test_the_same_call_gives_the_same_bytes_and_what_the_tool_writes(saxpy, tmp_path):
    what, options = saxpy
    first, second = simtlab.run(*what, **options), simtlab.run(*what, **options)
    assert lasting(first) == lasting(second)
    words = ["run", *map(str, what), "--gpu=v100", "--set=sm.count=4", "--grid=64", "--block=256"] + [
        f"--arg={a}" for a in options["arg"]
    ]
    tool = json.loads(
        subprocess.run([os.environ["SIMTLAB"], *words, "--json"], check=True, stdout=subprocess.PIPE).stdout
    )
    assert tool["kernels"] == first["kernels"]


def test_a_saved_result_is_read_back_by_us_and_by_the_tool(saxpy, tmp_path):
    what, options = saxpy
    result = simtlab.run(*what, **options)
    path = tmp_path / "r.json"
    result.save(path)
    assert path.read_text() == result.text
    assert simtlab.load(path) == result
    assert (
        "saxpy"
        in subprocess.run([os.environ["SIMTLAB"], "report", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    )
    assert os.listdir(tmp_path) == ["r.json"]
    with pytest.raises(OSError):
        result.save(tmp_path / "missing" / "r.json")
    (tmp_path / "foreign.json").write_text("[1, 2]")
    with pytest.raises(ValueError):
        simtlab.load(tmp_path / "foreign.json")


def test_a_result_file_is_loaded_with_the_columns_beside_it(examples, tmp_path):
    path = tmp_path / "r.json"
    words = [
        "run",
        examples / "saxpy.ptx",
        "--gpu=v100",
        "--set=sm.count=1",
        "--grid=16384",
        "--block=256",
        "--series=8",
        f"--json={path}",
        "-q",
        "--arg=u32:16384",
        "--arg=f32:2",
        "--arg=buffer:16384:f32:iota",
        "--arg=buffer:16384:f32:random",
    ]
    subprocess.run([os.environ["SIMTLAB"], *words], check=True, stdout=subprocess.DEVNULL)
    written = json.loads(path.read_text())
    count = written["kernels"][0]["series"]["rows"]["count"]
    assert count > 4096
    series = simtlab.load(path)["kernels"][0]["series"]
    assert len(series["rows"]) == count
    import numpy

    columns = numpy.load(tmp_path / written["beside"]["file"])
    for k, name in enumerate(series["columns"]):
        assert numpy.allclose(columns["kernels.0.series." + name], [row[k] for row in series["rows"]], rtol=1e-8), name
    (tmp_path / written["beside"]["file"]).unlink()
    with pytest.raises(ValueError, match="not beside it"):
        simtlab.load(path)


def test_the_other_commands(examples, saxpy):
    what, options = saxpy
    predicted = simtlab.predict(*what, **{k: v for k, v in options.items() if k != "set"})
    assert predicted.metric("predict.roofline.time") > 0
    cached = simtlab.cache(*what, **options)
    assert cached.metric("l1.read.accesses") == cached.metric("l1.read.hits") + cached.metrics().get(
        "l1.read.hits_pending", 0
    ) + cached.metric("l1.read.misses")
    rates = [cached.metric(f"l1.read.{rate}_rate") for rate in ("hit", "pending", "miss")]
    assert (
        abs(sum(rates) - 1) < 1e-9
        and abs(rates[0] * cached.metric("l1.read.accesses") - cached.metric("l1.read.hits")) < 1e-3
    )
    memory = simtlab.dram(dram="ddr4-3200", generate="stream", requests=5000)
    assert 0 < memory.metric("dram.bandwidth.share") <= 1
    probed = simtlab.probe(gpu="gtx480", only=["clock"])
    assert probed["manifest"]["device"] == "gtx480"
    assert len(simtlab.corun(mixes=1, size=2, policy=["mps", "shark"]).frame()) >= 2


def test_results_can_be_compared(saxpy, tmp_path):
    what, options = saxpy
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    simtlab.run(*what, **options).save(a)
    simtlab.run(*what, **{**options, "set": {"sm.count": 8}}).save(b)
    assert isinstance(simtlab.compare(a, b), dict)
    with pytest.raises(simtlab.CheckError) as caught:
        simtlab.compare(b, a, fail_above=1)
    assert caught.value.code == 6


def test_errors_say_where(tmp_path):
    path = tmp_path / "bad.ptx"
    path.write_text(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n  .reg .b32 %r<3>;\n  foo.u32 %r1, 5;\n  ret;\n}\n"
    )
    with pytest.raises(simtlab.UnsupportedError) as caught:
        simtlab.run(path, grid="1", block="1")
    e = caught.value
    assert (e.code, e.id, e.file, e.line, e.column) == (4, "ptx-unsupported", str(path), 7, 3)
    assert "foo.u32" in str(e) and "bad.ptx:7:3" in e.text and e.places[0].text.strip().startswith("foo.u32")
    assert e.partial is None
    again = pickle.loads(pickle.dumps(e))
    assert type(again) is type(e) and again.places == e.places and str(again) == str(e)
    with pytest.raises(simtlab.InputError, match="unknown GPU"):
        simtlab.run(path, grid="1", block="1", gpu="h1000")
    with pytest.raises(simtlab.UsageError):
        simtlab.dram(dram="ddr4-3200")
    assert issubclass(simtlab.UsageError, simtlab.Error)


def test_arguments_of_a_wrong_kind_are_refused_before_anything_runs(saxpy):
    what, options = saxpy
    for wrong in ({"gpu": 3.5j}, {"lines": "yes"}, {"set": [None]}, {"launch": b"x"}, {"gpu": "a\0b"}):
        with pytest.raises((TypeError, ValueError)):
            simtlab.run(*what, **{**options, **wrong})
    with pytest.raises(TypeError):
        simtlab.run(*what, no_such_option=1)


def test_progress_is_told_in_this_thread_and_can_stop(spin):
    what, options = spin
    told = []

    def progress(activity, seconds):
        told.append((activity, seconds, threading.current_thread()))
        return not (activity == "simulating" and activity.detail)

    with pytest.raises(simtlab.Interrupted) as caught:
        simtlab.run(*what, **options, progress=progress, progress_interval=0.02)
    assert told[-1][0].detail.startswith("kernel spin: 0 of ")
    assert told[-1][0] == "simulating" and {t for _, _, t in told} == {threading.current_thread()}
    assert [s for _, s, _ in told] == sorted(s for _, s, _ in told)
    assert caught.value.code == 130
    assert caught.value.partial["manifest"]["interrupted"] is True
    assert caught.value.partial.frame()["name"][0] == "spin"


def test_an_exception_of_the_callback_comes_back(spin):
    what, options = spin

    def progress(activity, seconds):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        simtlab.run(*what, **options, progress=progress, progress_interval=0.02)


def test_ctrl_c_stops_a_run(spin):
    what, options = spin
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        simtlab.run(*what, **options)
    timer.join()
    assert simtlab.dram(dram="ddr4-3200", generate="stream", requests=100)["schema"] == 1  # nothing is left over


def test_the_time_limit(spin):
    what, options = spin
    begin = time.monotonic()
    with pytest.raises(simtlab.Error) as caught:
        simtlab.run(*what, **options, max_time=0.1)
    assert caught.value.id == "limit-time" and caught.value.partial is not None
    assert time.monotonic() - begin < 20


def test_other_threads_go_on_and_simulations_run_side_by_side(spin, saxpy):
    what, options = spin
    steps, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            steps[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    with pytest.raises(simtlab.Error):
        simtlab.run(*what, **options, max_time=0.4)
    stop.set()
    counter.join()
    assert steps[0] > 20

    alone = [lasting(simtlab.run(*saxpy[0], **{**saxpy[1], "gpu": gpu})) for gpu in ("v100", "k40", "a100")]
    together = [None] * 3

    def one(i, gpu):
        together[i] = lasting(simtlab.run(*saxpy[0], **{**saxpy[1], "gpu": gpu}))

    threads = [threading.Thread(target=one, args=a) for a in enumerate(("v100", "k40", "a100"))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert together == alone


def test_nothing_is_printed(saxpy, capfd):
    what, options = saxpy
    simtlab.run(*what, **options)
    with pytest.raises(simtlab.ProgramError) as caught:
        simtlab.run(program=["/bin/sh", "-c", "echo said; exit 3"])
    assert "said" in caught.value.messages
    assert capfd.readouterr() == ("", "")


def test_what_a_compiler_says_is_in_the_exception(tmp_path, capfd):
    source = tmp_path / "wrong.cu"
    source.write_text("int main() { return nowhere; }\n")
    with pytest.raises(simtlab.InputError) as caught:
        simtlab.run(source)
    assert capfd.readouterr() == ("", "")
    assert "nowhere" in caught.value.messages and "wrong.cu:1:21" in caught.value.messages
    with pytest.raises(simtlab.InputError) as caught:
        simtlab.run(tmp_path / "none.ptx", grid="1", block="32")
    assert caught.value.hint
    if sys.version_info >= (3, 11):
        assert caught.value.__notes__ == [f"hint: {caught.value.hint}"]


def test_a_table_without_pandas_says_what_is_missing(saxpy):
    what, options = saxpy
    result = simtlab.run(*what, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match="python3-pandas"):
            result.frame()


def test_a_program_takes_its_arguments(examples, capfd):
    with pytest.raises(simtlab.InputError) as caught:
        simtlab.run(program=["/bin/echo", "one", "two three"])
    assert caught.value.id == "program-no-cuda"
    assert caught.value.messages == "one two three\n"
