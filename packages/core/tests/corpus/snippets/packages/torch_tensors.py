# packages: ["torch"]
# long: true
import torch
torch.manual_seed(0)
x = torch.arange(6.0).reshape(2, 3).requires_grad_()
(x ** 2).sum().backward()
print(x.grad, torch.rand(2), torch.nn.Linear(3, 1)(x).shape, torch.cuda.is_available())
from torch.utils.data import DataLoader, TensorDataset
print([batch[0].shape for batch in DataLoader(TensorDataset(torch.zeros(4, 2)), batch_size=2, num_workers=0)])
