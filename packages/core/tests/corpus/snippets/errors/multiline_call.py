def total(first,
          second):
    return first + second
print(
    total(
        1,
        "2",
    )
)
