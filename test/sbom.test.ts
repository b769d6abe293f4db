/** The bill of materials names exactly what is shipped: every production package of the lock file, and no other. */
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { projectRoot } from './support/database.ts'

const run = promisify(execFile)
const canSbom = await run('npm', ['help', 'sbom']).then(
  () => true,
  () => false,
)
if (!canSbom) console.warn('The test of the bill of materials is skipped: there is no npm here that can make one.')

interface Locked {
  readonly name?: string
  readonly version?: string
  readonly dev?: boolean
  readonly link?: boolean
}
const read = <T>(file: string): T => JSON.parse(fs.readFileSync(path.join(projectRoot, file), 'utf8')) as T

test.skipIf(!canSbom)('it lists the production packages of the lock file, nothing less and nothing more', async () => {
  const { stdout } = await run(process.execPath, ['scripts/sbom.mjs'], {
    cwd: projectRoot,
    maxBuffer: 64 * 1024 * 1024,
  })
  const document = JSON.parse(stdout) as {
    bomFormat: string
    components: { 'bom-ref': string }[]
    dependencies: { ref: string; dependsOn: string[] }[]
  }
  const { packages } = read<{ packages: Record<string, Locked> }>('package-lock.json')
  const shipped = Object.entries(packages)
    .filter(([place, entry]) => place !== '' && !entry.dev && !entry.link)
    .map(([place, { name, version }]) => `${name ?? place.split('node_modules/').at(-1)}@${version}`)
  const listed = document.components.map((component) => component['bom-ref'])
  expect(document.bomFormat).toBe('CycloneDX')
  expect([...new Set(listed)].sort()).toEqual([...new Set(shipped)].sort())
  const { dependencies } = read<{ dependencies: Record<string, string> }>('package.json')
  for (const [name, version] of Object.entries(dependencies)) expect(listed).toContain(`${name}@${version}`)
  const known = new Set([...listed, ...document.dependencies.map(({ ref }) => ref)])
  expect(document.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((name) => !known.has(name))).toEqual([])
})
