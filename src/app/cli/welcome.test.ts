import { expect, test } from 'vitest'
import { formatWelcome, type WelcomeFacts } from './welcome.ts'

const facts: WelcomeFacts = {
  version: '1.0.0',
  took_s: 1,
  url: 'http://localhost:8000',
  metrics_url: 'http://localhost:9000/metrics',
  data_dir: null,
  log_file: 'service.log',
  demo: true,
  demo_sign_in: 'this machine',
  readiness: { status: 'ready', checks: { database: { status: 'ok' } } },
}

test('says that no password is needed on this machine', () => {
  expect(formatWelcome(facts)).toContain('no password is needed on this machine.')
  expect(formatWelcome(facts)).not.toContain('WARNING')
})

test('warns that anybody who reaches the port can sign in as administrator', () => {
  const welcome = formatWelcome({ ...facts, demo_sign_in: 'everywhere' })
  expect(welcome).not.toContain('on this machine')
  expect(welcome).toMatch(/WARNING: PROBITY_DEMO_REMOTE is on\. Anybody who reaches this port .* administrator/)
})

test('asks for a token where there is no demo sign-in', () => {
  expect(formatWelcome({ ...facts, demo_sign_in: null })).toContain('paste a token')
})

test('names the failed checks with the command that helps instead of saying that it is ready', () => {
  expect(formatWelcome(facts)).toContain('Probity 1.0.0 is ready')
  const detail = 'the database has subjects that were erased: run "npx probity erasures replay"'
  const welcome = formatWelcome({
    ...facts,
    readiness: { status: 'not_ready', checks: { database: { status: 'ok' }, erasures: { status: 'failed', detail } } },
  })
  expect(welcome).not.toContain('is ready')
  expect(welcome).toContain(`WARNING: Probity 1.0.0 serves after 1.0 s, but is not ready`)
  expect(welcome).toContain(`erasures: ${detail}`)
  expect(welcome).not.toContain('database:')
})
