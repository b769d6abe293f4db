import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { awaitAll, type DependentStep, runDependentSteps } from './dependent-steps.ts'

/** Records what begins and ends. */
function createSteps(needs: Readonly<Record<string, readonly string[]>>, failing: readonly string[] = []) {
  const record: string[] = []
  const steps = Object.entries(needs).map(
    ([name, after]): DependentStep => ({
      name,
      after,
      run: async () => {
        record.push(`${name} begins`)
        await sleep(1)
        record.push(`${name} ends`)
        if (failing.includes(name)) throw new Error(`${name} failed`)
      },
    }),
  )
  return { record, steps }
}

describe('steps', () => {
  test('begin when those they come after have ended, in whatever order they are listed', async () => {
    const { record, steps } = createSteps({ last: ['left', 'right'], left: ['first'], right: ['first'], first: [] })
    await runDependentSteps(steps)
    expect(record.slice(0, 4)).toEqual(['first begins', 'first ends', 'left begins', 'right begins'])
    expect(record.slice(-2)).toEqual(['last begins', 'last ends'])
    expect(record).toHaveLength(8)
  })

  test('do not wait for steps that are not run', async () => {
    const { record, steps } = createSteps({ second: ['done by an earlier release'] })
    await runDependentSteps(steps)
    expect(record).toEqual(['second begins', 'second ends'])
  })

  test('do not begin after a failure, which is thrown when everything that was running has ended', async () => {
    const { record, steps } = createSteps({ failing: [], beside: [], later: ['beside'] }, ['failing'])
    await expect(runDependentSteps(steps)).rejects.toThrow('failing failed')
    expect(record.toSorted()).toEqual(['beside begins', 'beside ends', 'failing begins', 'failing ends'])
  })

  test('that wait for each other are refused before any of them begins', async () => {
    const { record, steps } = createSteps({ free: [], one: ['other'], other: ['one'] })
    await expect(runDependentSteps(steps)).rejects.toThrow('These steps wait for each other: one, other.')
    expect(record).toEqual([])
  })
})

test('the first failure is thrown when everything has ended', async () => {
  const ended: string[] = []
  const fail = async () => {
    throw new Error('first')
  }
  const end = async (name: string) => {
    await sleep(1)
    ended.push(name)
  }
  await expect(awaitAll([end('one'), fail(), end('two')])).rejects.toThrow('first')
  expect(ended).toEqual(['one', 'two'])
})
