import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ProcessLifecycle } from './process-lifecycle.ts'

test('any number of requests can wait for the end of the process without a warning', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  const { signal } = new ProcessLifecycle({ say: () => {}, onCrash: () => {} })
  for (let request = 0; request < 100; request++) signal.addEventListener('abort', () => {}, { once: true })
  await nextTurn()
  process.off('warning', onWarning)
  expect(warnings).toEqual([])
})
