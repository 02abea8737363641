# packages: ["matplotlib"]
import matplotlib.pyplot as plt
plt.plot([1, 2, 3])
plt.title("Größe")
plt.show()
print("shown")
