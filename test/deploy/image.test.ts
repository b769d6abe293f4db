/** The image holds what the program needs, and its health check tells the truth. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { projectRoot } from '../support/database.ts'
import { defaults, readProjectFile } from './deploy-files.ts'

describe('the image', () => {
  const dockerfile = readProjectFile('deploy/Dockerfile')
  const final = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))

  test('is slim, ends on SIGTERM and starts the API', () => {
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:22[-\w.]*-slim$/m)
    expect(dockerfile).not.toContain(':latest')
    expect(dockerfile).toMatch(/npm ci --omit=dev --omit=optional/)
    expect(final).toContain('STOPSIGNAL SIGTERM')
    expect(final).toContain('ENTRYPOINT ["node", "bin/probity.mjs"]')
    expect(final).toContain('CMD ["api"]')
    expect(final).toContain(`EXPOSE ${defaults.port} ${defaults.metrics_port}`)
    const copied = [...final.matchAll(/^COPY (?:--from=\w+ )?(\S+)/gm)].map(([, from]) => from)
    expect(copied).toEqual([
      ...['/probity/node_modules/', '/probity/node_modules/@myriaddreamin/', '/probity/dist/'],
      ...['package.json', 'bin/', 'db/', 'assets/'],
    ])
  })

  test('its context holds what is copied', () => {
    const allowed = new Set(
      readProjectFile('deploy/Dockerfile.dockerignore')
        .split('\n')
        .filter((line) => line.startsWith('!'))
        .map((line) => line.slice(1)),
    )
    const lines = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].map(([, words]) => (words as string).split(' '))
    const sources = lines.flatMap((words) => words.slice(0, -1))
    expect(sources.length).toBeGreaterThan(8)
    const isAllowed = (source: string) => [...allowed].some((name) => `${source}/`.startsWith(`${name}/`))
    expect(sources.filter((source) => !isAllowed(source))).toEqual([])
    expect(sources.filter((source) => !fs.existsSync(path.join(projectRoot, source)))).toEqual([])
  })

  test('takes over all that is built, the compressed files too', async () => {
    expect(dockerfile).toMatch(/^RUN npm run build && rm -f dist\/\.stamp-\*$/m)
    expect(await exitOf(process.execPath, ['scripts/build.mjs', 'console', 'docs'])).toBe(0)
    for (const file of ['console/index.html', 'docs/scalar.js']) {
      const forms = ['', '.br', '.gz'].map((form) => fs.existsSync(path.join(projectRoot, 'dist', file + form)))
      expect(forms, file).toEqual([true, true, true])
    }
  }, 120_000)

  test('its health check tells a server that answers from one that does not', async () => {
    const [, words] = /^HEALTHCHECK .*\\\n\s+CMD (\[.+\])$/m.exec(final) ?? []
    const [command, ...args] = JSON.parse(words as string) as string[]
    const check = (port: number) => exitOf(command as string, args, { PROBITY_METRICS_PORT: String(port) })
    let status = 200
    const server = http.createServer((request, response) => {
      response.writeHead(request.url === '/health' ? status : 404).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    try {
      expect(await check(port)).toBe(0)
      status = 503
      expect(await check(port)).toBe(1)
    } finally {
      server.close()
    }
    expect(await check(port)).toBe(1)
  })

  test('the tool runs without sources, and builds nothing then', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-image-'))
    afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))
    fs.mkdirSync(path.join(folder, 'bin'))
    fs.mkdirSync(path.join(folder, 'dist'))
    for (const file of ['package.json', 'bin/probity.mjs'])
      fs.copyFileSync(path.join(projectRoot, file), path.join(folder, file))
    const bundle = 'export const main = async (argv) => (argv.join() === "api,--help" ? 7 : 1)'
    fs.writeFileSync(path.join(folder, 'dist/probity.mjs'), bundle)
    expect(await exitOf(process.execPath, [path.join(folder, 'bin/probity.mjs'), 'api', '--help'])).toBe(7)
  })
})

function exitOf(command: string, args: readonly string[], env: Record<string, string> = {}): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: 'ignore' })
    child.once('error', reject)
    child.once('exit', resolve)
  })
}
