import { defineConfig } from 'vitest/config'
import { LongestFirstSequencer } from './test/support/longest-first.ts'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'console/src/**/*.test.ts'],
    pool: 'forks',
    // One more than the cores of a small machine: tests wait for PostgreSQL and the browser a quarter of the time.
    maxWorkers: 3,
    // Most objects of a test live shorter than it: with a large young generation few of them are copied.
    execArgv: ['--max-semi-space-size=64'],
    // A worker keeps the modules it has loaded for its next file: no module remembers anything but under a key of its owner,
    // a kernel, a tenant or a content. What a test has replaced is put back before the next one.
    isolate: false,
    restoreMocks: true,
    sequence: { sequencer: LongestFirstSequencer },
    // What hangs is found, and what waits for a busy machine is not taken for it.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    globalSetup: [
      'test/support/resource-counts.ts',
      'test/support/database.ts',
      'test/support/threads.ts',
      'test/support/browser-unpack.ts',
    ],
  },
})
