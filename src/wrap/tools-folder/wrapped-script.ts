import type { InputFile } from '../../contract/run.js';
import type { ToolSpec, ToolsFile } from '../../contract/wrap.js';
import type { Standing } from '../discover/surrounding.js';

/** A place in the tools folder that leads to a script: the script itself, a registration, or a folder of its own. */
export interface ScriptSource {
  /** Of the group of tools, unless its tools file says otherwise; unwrap_script knows it by this. */
  name: string;
  /** The path of the script or tools file, from the tools folder. */
  origin: string;
  kind: 'script' | 'registration' | 'folder';
}

/** A script that is in order. */
export interface ScriptInUse {
  tools: ToolsFile;
  /** The real path of the script. */
  path: string;
  filename: string;
  code: string;
  /** What goes along with it from beside it. */
  files: InputFile[];
  /** What it imports before it does anything, from elsewhere. */
  firstImports: string[];
  /** Tools that cannot be offered as they are written, and why. */
  faults: ToolFault[];
  /** When it came here: of two tools with one name, the older one has it. */
  since: number;
  /** Calls of it may be unable to run though it is in order itself. */
  standing: Standing;
}

export interface ToolFault {
  tool: string;
  problem: string;
  /** False: it is offered, without what is wrong with it. */
  isLeftOut: boolean;
}

/** What is known of a place in the tools folder. */
export interface WrappedScript extends ScriptSource {
  /** The newest state that was in order; null: there was none. */
  inUse: ScriptInUse | null;
  /** Why what is there now is not in use, or cannot run. */
  problem: string | null;
}

/** A tool as clients see it. */
export interface WrappedTool {
  /** What clients call it: the name of its script is before its own where another tool had that first. */
  name: string;
  spec: ToolSpec;
  group: string;
  script: ScriptInUse;
  /** What workers are parked with: the imports of all scripts that run where this one does, so that they share them. */
  preload: readonly string[];
}
