# %% [markdown]
# How long does a kernel take on each GPU that simtlab knows, by cycle-level simulation and by the analytical models? A notebook as a script:
# editors with cells run it piece by piece, `python3 which_gpu.py` as a whole.

# %%
import pathlib

import pandas
import simtlab

here = pathlib.Path(__file__).resolve().parent.parent
kernel = here / "saxpy.ptx"
launch = {
    "grid": "512",
    "block": "256",
    "arg": ["u32:131072", "f32:2", "buffer:131072:f32:iota", "buffer:131072:f32:random"],
}
gpus = ["gtx480", "k40", "titanx-maxwell", "v100", "a100", "h100"]

# %% The simulation, and the predictions beside it: milliseconds each.
rows = []
for gpu in gpus:
    simulated = simtlab.run(kernel, **launch, gpu=gpu)
    predicted = simtlab.predict(kernel, **launch, gpu=gpu)
    row = {"gpu": gpu, "simulated": simulated.metric("gpu.time")}
    for model in ("mwp-cwp-2012", "throughput", "roofline", "resios"):
        row[model] = predicted.metrics().get(f"predict.{model}.time")
    rows.append(row)
times = pandas.DataFrame(rows).set_index("gpu")
print(times.round(0).to_string())

# %% Nothing is faster than the floor that the roofline draws.
assert (times["simulated"] >= times["roofline"]).all()

# %% What the kernel waits for, as shares of the schedulers' slots.
result = simtlab.run(kernel, **launch, gpu="a100")
stalls = pandas.Series({name[6:]: value for name, value in result.metrics(0).items() if name.startswith("stall.")})
print(stalls.sort_values(ascending=False).head(5).round(3).to_string())
assert abs(stalls.sum() - 1) < 1e-6
