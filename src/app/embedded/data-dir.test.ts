import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { prepareDataDir, resolveDataDir } from './data-dir.ts'

const isRoot = process.getuid?.() === 0
const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'probity-test-')))
fs.chmodSync(folder, 0o755)
/** As a clone under /root: nobody but its owner gets in. */
const closed = path.join(folder, 'closed')
fs.mkdirSync(closed, { mode: 0o700 })

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

describe('the data folder', () => {
  it('is .probity in the project, or what the setting says', () => {
    expect(resolveDataDir({}, folder)).toEqual({ dir: path.join(folder, '.probity'), moved: null })
    const elsewhere = path.join(folder, 'else/where')
    expect(resolveDataDir({ PROBITY_DATA_DIR: elsewhere }, folder)).toEqual({ dir: elsewhere, moved: null })
    expect(resolveDataDir({ PROBITY_DATA_DIR: '' }, folder).dir).toBe(path.join(folder, '.probity'))
  })

  it.runIf(isRoot)('moves out of a project that the database user cannot enter, and says so', () => {
    const { dir, moved } = resolveDataDir({}, path.join(closed, 'project'))
    expect(dir).toMatch(/^\/var\/lib\/probity\/[0-9a-f]{16}$/)
    expect(moved).toContain(closed)
    expect(moved).toContain(dir)
    expect(resolveDataDir({}, path.join(closed, 'other')).dir).not.toBe(dir)
  })

  it.runIf(isRoot)('is not moved when it was chosen, but refused with advice', () => {
    const chosen = path.join(closed, 'data')
    const advice = `cannot enter ${closed}. Choose a folder outside it`
    expect(() => resolveDataDir({ PROBITY_DATA_DIR: chosen }, folder)).toThrow(advice)
    expect(() => prepareDataDir(chosen)).toThrow(`cannot enter ${closed}. Set PROBITY_DATA_DIR`)
    fs.writeFileSync(path.join(closed, 'other.txt'), '')
    expect(() => prepareDataDir(closed)).toThrow(`chmod o+x '${closed}'`)
  })

  it('is refused with the setting, the path and advice where a file is in the way', () => {
    const file = path.join(folder, 'file')
    fs.writeFileSync(file, '')
    for (const dir of [file, path.join(file, 'data')]) {
      const sentence = `The data folder ${dir} (PROBITY_DATA_DIR) cannot be used: ${file} is a file, not a folder. Set PROBITY`
      expect(() => resolveDataDir({ PROBITY_DATA_DIR: dir }, folder)).toThrow(sentence)
      expect(() => prepareDataDir(dir)).toThrow(sentence)
    }
    expect(() => resolveDataDir({}, file)).toThrow(`${file} is a file`)
  })

  it('is refused with the path and its target where a link leads to nothing', () => {
    const link = path.join(folder, 'dangling')
    fs.symlinkSync(path.join(folder, 'gone'), link)
    for (const dir of [link, path.join(link, 'data')]) {
      const sentence = `The data folder ${dir} (PROBITY_DATA_DIR) cannot be used: ${link} is a link to ${folder}/gone, which does not exist. Set PROBITY`
      expect(() => resolveDataDir({ PROBITY_DATA_DIR: dir }, folder)).toThrow(sentence)
      expect(() => prepareDataDir(dir)).toThrow(sentence)
    }
  })

  it.runIf(process.platform === 'linux')('is refused where no folder can be made', () => {
    expect(() => prepareDataDir('/proc/x/data')).toThrow(
      'The data folder /proc/x/data (PROBITY_DATA_DIR) cannot be used: no folder can be made there. Set PROBITY_DATA_DIR',
    )
  })

  it.skipIf(isRoot)('is refused where this user may not write', () => {
    const readOnly = path.join(folder, 'read-only')
    fs.mkdirSync(readOnly, { mode: 0o500 })
    for (const dir of [readOnly, path.join(readOnly, 'data')])
      expect(() => prepareDataDir(dir)).toThrow(`${dir} (PROBITY_DATA_DIR) cannot be used: this user may not enter it`)
  })

  describe.runIf(isRoot)('on a machine whose programs cannot be run', () => {
    const usual = process.env['PATH']
    const only = (...programs: string[]): string => {
      const dir = fs.mkdtempSync(path.join(folder, 'bin-'))
      fs.chmodSync(dir, 0o755)
      for (const program of programs) fs.symlinkSync(`/usr/bin/${program}`, path.join(dir, program))
      process.env['PATH'] = dir
      return dir
    }
    afterEach(() => {
      process.env['PATH'] = usual
    })

    it('reports that "test" could not be run instead of a folder that cannot be entered', () => {
      const dir = only('id')
      const reason = `the program "test" could not be run, because it was not found in PATH=${dir}`
      expect(() => resolveDataDir({}, folder)).toThrow(reason)
      expect(() => prepareDataDir(path.join(folder, 'unchecked'))).toThrow(reason)
    })

    it('reports a program that may not be executed', () => {
      fs.writeFileSync(path.join(only('id'), 'test'), '', { mode: 0o600 })
      expect(() => resolveDataDir({}, folder)).toThrow(
        'the program "test" could not be run, because spawnSync test EACCES',
      )
    })

    it('reports that "id" could not be run instead of a user that does not exist', () => {
      only()
      expect(() => resolveDataDir({}, folder)).toThrow(
        'Cannot look up the user "postgres": the program "id" could not be run',
      )
    })
  })

  it('is made private, parents and all', () => {
    const { dir } = prepareDataDir(path.join(folder, 'a/b/c'))
    expect(fs.statSync(dir).mode & 0o707).toBe(0o700)
  })

  it('may hold other things, whose mode is left alone', () => {
    const shared = path.join(folder, 'shared')
    fs.mkdirSync(shared)
    fs.chmodSync(shared, 0o755)
    fs.writeFileSync(path.join(shared, 'other.txt'), '')
    prepareDataDir(shared)
    expect(fs.statSync(shared).mode & 0o777).toBe(0o755)
  })

  it('is refused when everybody can write to it', () => {
    const open = path.join(folder, 'open')
    fs.mkdirSync(open)
    fs.chmodSync(open, 0o777)
    expect(() => prepareDataDir(open)).toThrow(/can be written by other users/)
  })

  it('is one folder, whichever link leads to it', () => {
    const { dir } = prepareDataDir(path.join(folder, 'real'))
    fs.symlinkSync(dir, path.join(folder, 'link'))
    expect(prepareDataDir(path.join(folder, 'link')).dir).toBe(dir)
  })
})
