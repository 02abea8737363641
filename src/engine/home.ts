/** Where code runs: the interpreter of one generation of an environment, and what runs may read beside it. */
export interface Home {
  environment: string;
  /** A changed environment is a new generation; workers of the one before are not given another run. */
  generation: string;
  python: string;
  roots: string[];
}
