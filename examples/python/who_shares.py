# %% [markdown]
# Several applications on one GPU: which policy loses least, and how do two applications slow each other down? Ends with a long command that is
# stopped from outside and keeps what it has done.

# %%
import pathlib

import simtlab

# %% Ten random mixes of four applications, three policies.
result = simtlab.corun(policy=["mps", "shark", "exclusive"], mixes=10, size=4, seed=7)
policies = result.frame()
print(
    policies[["name"] + [c for c in policies.columns if c.startswith("corun.stp") or c.startswith("corun.antt")]]
    .round(3)
    .to_string(index=False)
)
assert {"mps", "shark", "exclusive"} <= set(" ".join(policies["name"]).replace("/", " ").split())

# %% A callback sees what is being done; False ends it. The partial result is marked as such.
here = pathlib.Path(__file__).resolve().parent.parent
seen = []


def enough(activity, seconds):
    seen.append(activity)
    return "simulating" not in seen


try:
    simtlab.run(here / "saxpy.ptx", launch=here / "saxpy.toml", gpu="h100", progress=enough, progress_interval=0.001)
    print("it was faster than the callback")
except simtlab.Interrupted as error:
    print(f"stopped: {error}; interrupted: {error.partial['manifest']['interrupted']}")
