import type { Attempt } from './failure.js';
import type {
  Forget,
  Packager,
  PackagerSettings,
  PackagerTool,
  PackagingOptions,
  Pin,
  Target,
  Wish,
} from './packager.js';

/** A command that needs packages. */
export interface Order {
  args: string[];
  /** The interpreter of the machine that packages are for. */
  python: string;
  /** Folders that it fills or reads. */
  fills: string[];
  attempt: Attempt;
}

/** A packager that has a program of its own do the work. */
export abstract class ToolPackager implements Packager {
  constructor(
    readonly tool: PackagerTool,
    protected readonly settings: PackagerSettings,
  ) {}

  abstract resolve(wish: Wish, options: PackagingOptions): Promise<Pin[]>;
  abstract installPinned(target: Target, pins: Pin[], options: PackagingOptions): Promise<Forget>;
  abstract prune(options: PackagingOptions): Promise<void>;
}
