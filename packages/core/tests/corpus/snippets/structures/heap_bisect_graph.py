import bisect, heapq
graph = {"a": {"b": 1, "c": 4}, "b": {"c": 2, "d": 6}, "c": {"d": 3}, "d": {}}
def dijkstra(start):
    distances, queue = {start: 0}, [(0, start)]
    while queue:
        distance, node = heapq.heappop(queue)
        for neighbour, weight in graph[node].items():
            if distance + weight < distances.get(neighbour, float("inf")):
                distances[neighbour] = distance + weight
                heapq.heappush(queue, (distance + weight, neighbour))
    return distances
print(dijkstra("a"), heapq.nlargest(2, [5, 1, 9]), bisect.bisect([1, 3, 5], 3), list(heapq.merge([1, 4], [2, 3])))
