// simtlab._simtlab: the studies of the tool for Python. Everything with a name for users is in simtlab/*.py.
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "simtlab/simtlab.h"

namespace py = pybind11;
using simtlab::api::Failure;

namespace {

py::object decoded(const std::string& text) { return py::bytes(text).attr("decode")("utf-8", "replace"); }

// simtlab.errors decides what class it is.
void raise(const Failure& failure) {
  py::list places;
  for (const simtlab::api::Place& p : failure.places()) {
    py::dict place;
    place["file"] = decoded(p.file);
    place["line"] = p.line;
    place["column"] = p.column;
    place["message"] = decoded(p.message);
    place["text"] = decoded(p.text);  // a line of somebody's file
    place["hint"] = decoded(p.hint);
    places.append(place);
  }
  const py::object error =
      py::module_::import("simtlab.errors")
          .attr("make")(failure.exit_code(), failure.id(), decoded(failure.what()), decoded(failure.text()),
                        places, decoded(failure.partial_json()), decoded(failure.messages()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

// The interpreter is free while the study runs. Ctrl-C is seen when Python's main thread is the one that
// waits.
py::tuple study(const std::string& name, const std::vector<std::string>& inputs,
                const std::vector<std::pair<std::string, std::string>>& given,
                const std::optional<std::vector<std::string>>& program, const py::object& progress,
                double interval) {
  simtlab::api::StudyOptions options;
  const py::object activity = py::module_::import("simtlab.call").attr("Activity");
  options.interval_seconds = interval;
  options.progress = [&](const simtlab::api::Progress& now) {
    const py::gil_scoped_acquire held;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    return progress.is_none() ||
           !progress(activity(std::string(now.activity), std::string(now.detail)), now.seconds)
                .is(py::bool_(false));
  };
  simtlab::api::Execution done;
  {
    const py::gil_scoped_release released;
    done = simtlab::api::study(
        name, {inputs, given, program.value_or(std::vector<std::string>{}), program.has_value()}, options);
  }
  return py::make_tuple(decoded(done.json), decoded(done.messages), decoded(done.report));
}

}  // namespace

PYBIND11_MODULE(_simtlab, m) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Failure& failure) { raise(failure); }
  });
  m.def("study", &study, py::arg("name"), py::arg("inputs"), py::arg("options"),
        py::arg("program") = py::none(), py::arg("progress") = py::none(), py::arg("interval") = 0.1);
  m.def("explain", [](const std::string& what) {
    std::string text;
    {
      const py::gil_scoped_release released;
      text = simtlab::api::explain(what);
    }
    return decoded(text);
  });
  m.def("commands_json", &simtlab::api::commands_json);
  m.def("version", [] { return std::string(simtlab::api::version()); });
}
