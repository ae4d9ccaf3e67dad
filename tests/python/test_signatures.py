"""Functions, stubs and the options of the tool say the same."""
import ast
import inspect
import json
import os
import pathlib
import subprocess
import sys

import simtlab
from simtlab import _simtlab, commands

PACKAGE = pathlib.Path(simtlab.__file__).parent
GENERATOR = pathlib.Path(os.environ["SIMTLAB_SOURCE_DIR"]) / "python/generate.py"


def stub_functions():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_generated_files_are_current(tmp_path):
    subprocess.run([sys.executable, "-B", GENERATOR, PACKAGE, tmp_path], check=True)
    for name in ("commands.py", "__init__.pyi"):
        assert (tmp_path / name).read_text() == (PACKAGE / name).read_text(), name


def test_the_stub_has_the_signatures_of_the_functions():
    stubs = stub_functions()
    assert set(stubs) == set(commands.__all__) >= {"run", "predict", "cache", "dram", "probe", "corun"}
    for name, node in stubs.items():
        parameters = inspect.signature(getattr(simtlab, name)).parameters
        a = node.args
        assert [p.arg for p in a.posonlyargs + a.args] + ([a.vararg.arg] if a.vararg else []) + [
            p.arg for p in a.kwonlyargs
        ] == list(parameters), name
        annotations = (
            [p.annotation for p in a.posonlyargs + a.args]
            + ([a.vararg.annotation] if a.vararg else [])
            + [p.annotation for p in a.kwonlyargs]
        )
        for written, actual in zip(annotations, parameters.values()):
            assert ast.unparse(written) == ast.unparse(ast.parse(actual.annotation, mode="eval").body), (name, actual)
        assert ast.unparse(node.returns) == "Result"


def test_every_public_name_is_in_the_stub():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    known = set(stub_functions())
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            known |= {alias.asname or alias.name for alias in node.names}
    assert set(simtlab.__all__) <= known


def test_every_option_of_the_tool_is_a_parameter():
    left_out = {"--json", "--csv", "--color", "--all", "--quiet", "--verbose", "--help", "--help-all"}
    tree = json.loads(_simtlab.commands_json())
    for command in tree["commands"]:
        function = getattr(simtlab, command["name"], None)
        if function is None or command["name"] not in commands.__all__:
            continue
        parameters = {p.rstrip("_") for p in inspect.signature(function).parameters}
        for option in command["options"]:
            longs = [n for n in option["names"] if n.startswith("--")]
            if option["positional"] or left_out & set(longs):
                continue
            assert {n[2:].replace("-", "_") for n in longs} & parameters, (command["name"], option["names"])


def test_help_tells_every_option():
    assert "gpu: The simulated GPU" in simtlab.run.__doc__
    for name in commands.__all__:
        function = getattr(simtlab, name)
        for parameter in inspect.signature(function).parameters:
            assert f"{parameter}:" in function.__doc__, (name, parameter)


def test_the_version_is_that_of_the_tool():
    printed = subprocess.run([os.environ["SIMTLAB"], "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert printed.split()[1] == simtlab.__version__
