"""scikit-learn with several processes, scipy, numba, matplotlib, opencv, lxml, pillow, filelock."""
import cv2, filelock, joblib, lxml.etree, matplotlib, numba, numpy, PIL.Image, scipy.optimize, scipy.sparse.linalg

matplotlib.use("Agg")
import matplotlib.pyplot
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import cross_val_score

features, labels = make_classification(300, random_state=0)
for jobs in (1, 2):
    forest = RandomForestClassifier(20, n_jobs=jobs, random_state=0)
    assert cross_val_score(forest, features, labels, n_jobs=jobs).mean() > 0.7
HistGradientBoostingClassifier().fit(features, labels), KMeans(3, n_init=1).fit(features)
joblib.dump(forest, "model.joblib"), joblib.load("model.joblib", mmap_mode="r")
assert joblib.Parallel(2, backend="threading")(joblib.delayed(abs)(-number) for number in range(3)) == [0, 1, 2]
assert joblib.Memory("cache", verbose=0).cache(abs)(-1) == 1


@numba.njit
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result


@numba.njit(parallel=True)
def total_in_parallel(values):
    result = 0.0
    for index in numba.prange(len(values)):
        result += values[index]
    return result


assert total(numpy.ones(100)) == total_in_parallel(numpy.ones(100)) == 100
scipy.optimize.minimize(lambda x: (x**2).sum(), numpy.ones(3)), scipy.linalg.eig(numpy.random.rand(100, 100))
matplotlib.pyplot.plot([1, 2, 3]), matplotlib.pyplot.title("Title"), matplotlib.pyplot.savefig("plot.png"), matplotlib.pyplot.savefig("plot.pdf")
image = cv2.imread("plot.png")
cv2.imwrite("grey.png", cv2.GaussianBlur(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), (5, 5), 0))
PIL.Image.open("plot.png").resize((50, 50)).save("small.png")
assert lxml.etree.fromstring("<a><b/></a>").xpath("count(//b)") == 1.0
with filelock.FileLock("lock"):
    pass
print("ok")
