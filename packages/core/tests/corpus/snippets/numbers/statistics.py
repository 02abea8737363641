import statistics as st
data = [2.75, 1.75, 1.25, 0.25, 0.5, 1.25, 3.5]
print(st.mean(data), st.median(data), st.mode([1, 1, 2]), st.stdev(data), st.pvariance(data), st.quantiles(data, n=4))
print(st.linear_regression([1, 2, 3], [2, 4, 6]), st.correlation([1, 2, 3], [3, 2, 1]), st.NormalDist(100, 15).cdf(115))
try:
    st.mean([])
except st.StatisticsError as error:
    print(error)
