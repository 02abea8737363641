"""torch: autograd, threads, data loaders with worker processes, saving and loading."""
import torch


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        return torch.tensor([float(index)])


if __name__ == "__main__":
    model = torch.nn.Linear(10, 1)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(5):
        loss = (model(torch.randn(64, 10)) ** 2).mean()
        loss.backward()
        optimizer.step()
    torch.save(model.state_dict(), "model.pt"), torch.load("model.pt", mmap=True)
    torch.mm(torch.randn(500, 500), torch.randn(500, 500))
    assert sum(len(batch) for batch in torch.utils.data.DataLoader(Numbers(), batch_size=5, num_workers=2)) == 20
    print("ok")
