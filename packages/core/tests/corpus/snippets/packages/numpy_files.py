# packages: ["numpy"]
import numpy as np
np.save("a.npy", np.eye(2)); np.savez("b.npz", x=np.arange(3)); np.savetxt("c.csv", np.ones((2, 2)), delimiter=",")
print(np.load("a.npy"), np.load("b.npz")["x"], np.genfromtxt("c.csv", delimiter=","))
mapped = np.memmap("d.bin", dtype="int32", mode="w+", shape=(10,))
mapped[:] = range(10); mapped.flush(); print(np.fromfile("d.bin", dtype="int32").sum())
