/** Requests that provoke the problems of plugins. */
import { uuidv7 } from '#kernel/uuid.ts'
import { createSimplePlugin } from './example-plugin.ts'
import { ExampleTenant } from './example-tenant.ts'
import type { ProblemReply, ProblemTriggers } from './registry-problem-triggers.ts'
import type { TestApp } from './test-app.ts'

export function createPluginTriggers(
  getApp: () => TestApp,
  call: (...request: Parameters<TestApp['call']>) => Promise<ProblemReply>,
): ProblemTriggers {
  const upload = async () => {
    const t = await ExampleTenant.create(getApp())
    const plugin_key = `directors-${uuidv7().slice(-12)}`
    await t.make('POST /plugins', { body: { plugin_key, package: createSimplePlugin(plugin_key) } })
    return { t, plugin_key, token: await t.token() }
  }
  const runs = (plugin_key: string) => `POST /plugins/${plugin_key}/versions/1/run`
  return {
    version_conflict: async () => {
      const { plugin_key, token } = await upload()
      const body = { package: createSimplePlugin(plugin_key, { title: 'Number of board members' }) }
      return call(`POST /plugins/${plugin_key}/versions`, { token, body })
    },
    plugin_invalid: async () => {
      const { t, plugin_key, token } = await upload()
      await t.make(`POST /plugins/${plugin_key}/disable`, { body: { reason: 'Scores look wrong' } })
      return call(runs(plugin_key), { token, body: { input: { country: 'AE', directors: 1 } } })
    },
    plugin_failed: async () => {
      const { plugin_key, token } = await upload()
      return call(runs(plugin_key), { token, body: { input: { country: 'AE', directors: 666 } } })
    },
  }
}
