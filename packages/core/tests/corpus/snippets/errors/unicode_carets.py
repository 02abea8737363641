größe = {"x": "日本語"}
print("日本語", größe["y"] + 1)
