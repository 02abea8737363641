# packages: ["matplotlib"]
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
fig, axes = plt.subplots(1, 2, figsize=(6, 3))
axes[0].plot([1, 2, 3], [1, 4, 9], label="squares"); axes[0].legend(); axes[1].bar(["a", "b"], [3, 5])
fig.tight_layout(); fig.savefig("plot.png", dpi=50); fig.savefig("plot.svg"); fig.savefig("plot.pdf")
print(open("plot.png", "rb").read(8), open("plot.svg").read(5), matplotlib.get_backend().lower(), plt.get_fignums())
