# packages: ["scikit-learn"]
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC
X, y = make_classification(n_samples=200, random_state=1)
print(RandomForestClassifier(n_estimators=20, random_state=0, n_jobs=-1).fit(X, y).score(X, y))
print(cross_val_score(SVC(), X, y, cv=3, n_jobs=-1).round(3).tolist())
print(GridSearchCV(SVC(), {"C": [0.1, 1]}, cv=2, n_jobs=2).fit(X, y).best_params_)
