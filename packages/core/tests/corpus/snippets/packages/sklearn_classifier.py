# packages: ["scikit-learn"]
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import train_test_split
X, y = load_iris(return_X_y=True)
a, b, c, d = train_test_split(X, y, random_state=0)
model = RandomForestClassifier(n_estimators=20, random_state=0).fit(a, c)
print(round(accuracy_score(d, model.predict(b)), 4), confusion_matrix(d, model.predict(b)).tolist())
print(LogisticRegression(max_iter=5).fit(a, c).score(b, d) > 0.5)
