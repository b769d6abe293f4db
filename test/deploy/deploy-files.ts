/** What is shipped for operations, read once for the tests about it. */
import fs from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '#app/config.ts'
import { modules } from '#app/modules.ts'
import { projectRoot } from '../support/database.ts'

export const readProjectFile = (file: string): string => fs.readFileSync(path.join(projectRoot, file), 'utf8')
export const manifests = fs
  .readdirSync(path.join(projectRoot, 'deploy/kubernetes'))
  .map((name) => `deploy/kubernetes/${name}`)
export const defaults = readConfig({})
export const requestLines = modules.flatMap(({ routes }) => routes).map(({ method, path: at }) => `${method} /api${at}`)

export const paths = requestLines.map((at) => at.split(' ')[1] as string)

/** Every variable the program reads, from the one place that reads them. */
export const variables = new Set(
  [
    ...readProjectFile('src/app/config.ts').matchAll(
      /'((?:[A-Z]+_)*DATABASE_URL|PROBITY_[A-Z_]+|NODE_ENV|PORT|HOST)'/g,
    ),
  ].map(([, name]) => name as string),
)
export const findVariables = (text: string): string[] =>
  [...text.matchAll(/\b((?:[A-Z]+_)*DATABASE_URL|PROBITY_[A-Z_]+|NODE_ENV)\b/g)].map(([, name]) => name as string)

// biome-ignore lint/suspicious/noExplicitAny: manifests are read as whatever they are; the tests assert their shape.
export type Manifest = any

export function parseYaml(file: string): Manifest[] {
  return parseAllDocuments(readProjectFile(file)).map((document) => {
    expect([...document.errors, ...document.warnings], file).toEqual([])
    return document.toJS()
  })
}

export const objects = manifests.flatMap((file) => parseYaml(file).map((object) => ({ file, ...object }) as Manifest))
export const listObjects = (kind: string): Manifest[] => objects.filter((object) => object.kind === kind)
export const findObject = (kind: string, name: string): Manifest =>
  listObjects(kind).find((object) => object.metadata.name === name)
const workloads = [...listObjects('Deployment'), ...listObjects('Job')]
export const pods = workloads.map(({ spec }) => spec.template)
const listContainers = (pod: Manifest): Manifest[] => [...(pod.spec.initContainers ?? []), ...pod.spec.containers]
export const containers = pods.flatMap(listContainers)
