import type { ChildProcess } from 'node:child_process';

/** A process whose words are collected. */
export class SpeakingProcess {
  said = '';
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout!.on('data', (chunk) => {
      this.said += chunk;
    });
    this.exited = new Promise((resolve) => child.on('close', resolve));
  }
}
