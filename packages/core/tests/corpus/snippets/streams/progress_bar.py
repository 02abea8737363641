import sys
for step in range(5):
    sys.stdout.write(f"\r{'#' * step}{'.' * (4 - step)}")
    sys.stdout.flush()
print("\ndone")
