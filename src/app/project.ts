/** Facts about this installation: its migrations and its build. */
import fs from 'node:fs'
import path from 'node:path'
import { latestVersion, type Migration, readMigrations } from '#kernel/database/migrations.ts'
import type { BuildInfo } from '#kernel/kernel.ts'
import type { Project } from './project-root.ts'

export { type Project, readProject } from './project-root.ts'

export const readProjectMigrations = (project: Project): Migration[] =>
  readMigrations(path.join(project.root, 'db/migrations'))

export function readBuildInfo(project: Project): BuildInfo {
  return {
    version: project.version,
    commit: findCommit(path.join(project.root, '.git')),
    node: process.version,
    schema_version: latestVersion(readProjectMigrations(project)),
  }
}

/** Null outside a git clone: a deployed copy has no history. */
function findCommit(git: string): string | null {
  const read = (name: string) => {
    const file = path.join(git, name)
    return fs.statSync(file, { throwIfNoEntry: false })?.isFile() ? fs.readFileSync(file, 'utf8') : ''
  }
  try {
    const head = read('HEAD').trim()
    const ref = /^ref: (.+)$/.exec(head)?.[1]
    if (ref === undefined) return /^[0-9a-f]{40}$/.test(head) ? head : null
    const packed = read('packed-refs').split('\n')
    return read(ref).trim() || (packed.find((line) => line.endsWith(` ${ref}`))?.slice(0, 40) ?? null)
  } catch {
    return null
  }
}
