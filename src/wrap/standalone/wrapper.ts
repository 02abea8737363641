import { VERSION } from '../../base/version.js';
import { bundle, wrapperModules } from './bundle.js';

const OPENING = `#!/usr/bin/env python3
"""Serves the tools of the tools.json beside it over MCP, on standard input and output.

Needs Python 3.10 or newer and nothing else. The README.md beside it says how to use it, and
"python wrapper.py --help" what can be set. Made by Pungi ${VERSION}, the same for every script:
what differs is in tools.json.
"""
`;

/** The one program that serves any wrapped script. */
export const wrapperText = (): string => bundle(wrapperModules(), OPENING);
