# %% [markdown]
# What a memory really carries: streams and random accesses on several technologies, many simulations at once. The interpreter is free while
# simtlab works, so threads are enough.

# %%
import concurrent.futures

import pandas
import simtlab

memories = ["ddr3-1600", "ddr4-3200", "gddr5-7000", "hbm2-2000"]
traffic = ["stream", "random"]


# %%
def bandwidth(memory, kind):
    result = simtlab.dram(dram=memory, generate=kind, requests=20000, seed=1)
    return {
        "memory": memory,
        "traffic": kind,
        "GB/s": result.metric("dram.bandwidth") / 1e9,
        "share of the peak": result.metric("dram.bandwidth.share"),
    }


with concurrent.futures.ThreadPoolExecutor() as pool:
    points = list(pool.map(lambda point: bandwidth(*point), [(m, k) for m in memories for k in traffic]))
table = pandas.DataFrame(points).pivot(index="memory", columns="traffic")
print(table.round(2).to_string())

# %% A law that no memory may break.
assert (table["GB/s"]["stream"] >= table["GB/s"]["random"]).all()

# %% Errors say what is wrong, and what to do.
try:
    simtlab.dram(dram="ddr4-3201", generate="stream")
except simtlab.InputError as error:
    print(f"{error} ({error.hint})")
else:
    raise AssertionError("a memory that does not exist was found")
