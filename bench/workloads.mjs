// The code that every contender runs.
export const PRINT = { name: 'print(1)', code: 'print(1)', expected: '1\n', preload: [] };

export const PANDAS = {
  name: 'pandas sum',
  code: "import pandas as pd\nprint(pd.DataFrame({'n': range(1000)})['n'].sum())",
  expected: '499500\n',
  preload: ['pandas'],
};
