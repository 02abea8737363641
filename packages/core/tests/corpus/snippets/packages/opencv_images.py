# packages: ["opencv-python-headless"]
# long: true
import cv2, numpy as np
image = np.zeros((60, 80, 3), np.uint8)
cv2.rectangle(image, (10, 10), (40, 40), (0, 255, 0), -1)
print(cv2.imwrite("x.png", image), cv2.imread("x.png").shape, cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).max(), cv2.GaussianBlur(image, (5, 5), 0).sum() > 0)
print(len(cv2.findContours(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]), cv2.getNumThreads() >= 1)
