/** Reference data that lies beside the project and is not part of it: tests that use it say so when it is absent. */
import fs from 'node:fs'
import path from 'node:path'
import { projectRoot } from './database.ts'

/** The folder, or undefined where it is absent; then the number of skipped tests is printed. */
export function findSharedFolder(name: string, tests: number): string | undefined {
  const folder = path.resolve(projectRoot, '../shared/data', name)
  if (fs.existsSync(folder)) return folder
  console.warn(`${tests} test(s) skipped: ${folder} is not here`)
  return undefined
}
