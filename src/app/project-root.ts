/** The folder and the version of this installation. */
import fs from 'node:fs'
import path from 'node:path'

export interface Project {
  readonly root: string
  readonly version: string
  readonly engines: string
}

/** Searches upwards from this file, which runs from src/app and from the bundle in dist. */
function findRoot(from: string): string {
  if (fs.existsSync(path.join(from, 'package.json'))) return from
  const parent = path.dirname(from)
  if (parent === from) throw new Error('package.json was not found above the program.')
  return findRoot(parent)
}

export function readProject(): Project {
  const root = findRoot(import.meta.dirname)
  const { version, engines } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    version: string
    engines: { node: string }
  }
  return { root, version, engines: engines.node }
}
