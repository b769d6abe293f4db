import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'console/src/**/*.test.ts'],
    pool: 'forks',
    // One more than the cores of a small machine: tests wait for PostgreSQL and the browser a quarter of the time.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globalSetup: ['test/support/database.ts', 'test/support/threads.ts', 'test/support/browser-unpack.ts'],
  },
})
