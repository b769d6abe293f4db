/** The lock file installs on every platform users have, names no registry, and production dependencies stay few. */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from './support/database.ts'

interface LockEntry {
  readonly resolved?: string
  readonly optionalDependencies?: Record<string, string>
}
const lock = JSON.parse(fs.readFileSync(path.join(projectRoot, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockEntry>
}
const manifest = JSON.parse(fs.readFileSync(path.join(projectRoot, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>
}
const wanted = /(darwin-arm64|darwin-x64|linux-x64(-gnu)?|linux-arm64(-gnu)?|win32-x64(-msvc)?|windows-x64)$/

/** As Node resolves: in the package's own folder first, then upwards. */
function isLocked(from: string, name: string): boolean {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    if (lock.packages[`${folder ? `${folder}/` : ''}node_modules/${name}`]) return true
    if (folder === '') return false
  }
}

test('the binaries of every supported platform are in the lock file', () => {
  const asked = Object.entries(lock.packages).flatMap(([from, entry]) =>
    Object.keys(entry.optionalDependencies ?? {})
      .filter((name) => wanted.test(name))
      .map((name) => ({ from, name })),
  )
  expect(asked.length).toBeGreaterThan(15)
  expect(asked.filter(({ from, name }) => !isLocked(from, name))).toEqual([])
})

test('the lock file names no download address', () => {
  expect(Object.entries(lock.packages).filter(([, { resolved }]) => resolved?.includes('://'))).toEqual([])
})

test('production dependencies are few and pinned', () => {
  const versions = Object.values(manifest.dependencies)
  expect(versions.length).toBeLessThanOrEqual(40)
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
})

test('the script for Debian extras names no host: it uses the sources of the machine', () => {
  const script = fs.readFileSync(path.join(projectRoot, 'scripts/install-debian-extras.sh'), 'utf8')
  expect(script).toContain('apt-get')
  expect(script.match(/:\/\/|\b[a-z0-9-]+\.(org|com|net|io)\b/g) ?? []).toEqual([])
})
