/**
 * Every view of an object that may belong to a restriction has a padlock. Operations and views are found in the schemas of the
 * responses and in the sources of the console; test/browser/accessibility opens the pages and looks.
 */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { projectRoot } from './support/database.ts'
import {
  isRestrictable,
  type JsonSchema,
  listPages,
  objectPages,
  restrictedOperations,
  restrictedViews,
} from './support/restricted-views.ts'

/** Views that show such an object without its content, each with the reason. */
const WITHOUT_PADLOCK: Readonly<Record<string, string>> = {
  'console/src/areas/erasures/erased-records.tsx': 'sums what the certificate counts by kind, and shows nothing of one',
  'console/src/areas/erasures/erasure-page.tsx': 'downloads the certificate, and shows nothing of its annexes',
  'console/src/areas/evaluations/provider-answers.tsx': 'offers answers by provider and time as inputs of a decision',
  'console/src/areas/guide/guide-page.tsx': 'asks whether a change of a matrix waits, and shows nothing of it',
  'console/src/areas/guide/guided-start.tsx': 'asks whether a change of a matrix waits, and shows nothing of it',
  'console/src/ui/restriction/restricted-objects.tsx': 'is next to the padlock of the restriction',
  'console/src/areas/inbox/alert-dialogs.tsx':
    'names a case by its number in a message; the alert beside it has the padlock',
  'console/src/areas/inbox/queue-rail.tsx': 'counts open alerts and proposals, and shows nothing of one',
  'console/src/areas/holds/document-select.tsx': 'offers documents by title, and says which are restricted',
  'console/src/areas/providers/settle-call.tsx': 'is a part of the page of the call, which has it',
}

/** Operations whose parameter has the name of a restricted one. */
const OF_ANOTHER_TABLE: Readonly<Record<string, string>> = {
  getBatchSchedule: 'a schedule of batches has no restriction; one of reports has',
}

/** Names of the path parameters that identify a row of a table with restrictions. */
function listParameters(): string[] {
  const schema = fs.readFileSync(path.join(projectRoot, 'docs/schema.sql'), 'utf8')
  return schema
    .split(/^(?=create table )/m)
    .filter((table) => /^ {2}restriction_id uuid/m.test(table))
    .flatMap((table) => /PRIMARY KEY \(tenant_id, (\w+)\)/.exec(table)?.[1] ?? [])
}

test('the response that shows a row of a table with restrictions has its restriction_id', () => {
  const parameters = listParameters()
  expect(parameters).toEqual(expect.arrayContaining(['job_id', 'cr_id', 'event_id', 'call_id', 'restriction_id']))
  const shown = modules
    .flatMap((module) => module.routes)
    .filter(({ method, path: route }) => method === 'GET' && parameters.some((name) => route.endsWith(`/:${name}`)))
    .map(({ id }) => id)
  expect(shown.length).toBeGreaterThan(5)
  expect(shown.filter((id) => !restrictedOperations.some(({ operation }) => operation === id))).toEqual(
    Object.keys(OF_ANOTHER_TABLE),
  )
})

/** Operations that name such a row without saying whether it is restricted, each with the reason. */
const UNSAID: Readonly<Record<string, string>> = {
  ...OF_ANOTHER_TABLE,
  listBatchSchedules: 'a schedule of batches has no restriction; one of reports has',
  listSubjectEvents: 'an event of a subject has no restriction; one of the audit record has',
}

/**
 * The object is a row of such a table, in whichever way it names it: by the key of the table as its own identity, or by an id with a
 * kind or a title. An id that another object only refers to comes later in it.
 */
const showsRow = (properties: object, parameters: readonly string[]): boolean => {
  const [identity = ''] = Object.keys(properties)
  const isNamed = ['title', 'kind', 'object_kind', 'object_type'].some((name) => name in properties)
  return parameters.includes(identity) || (isNamed && ('id' in properties || 'object_id' in properties))
}

function isSilent(schema: JsonSchema | undefined, parameters: readonly string[]): boolean {
  if (schema === undefined) return false
  const { properties = {}, items, anyOf = [] } = schema
  // Its parts belong to it.
  if (isRestrictable(properties)) return false
  if (showsRow(properties, parameters)) return true
  return [...Object.values(properties), items, ...anyOf].some((part) => isSilent(part, parameters))
}

test('an operation that shows such a row by id, kind or title says whether it is restricted', () => {
  const parameters = listParameters()
  const silent = modules
    .flatMap((module) => module.routes)
    .filter(({ method, reply }) => method === 'GET' && isSilent(reply[1] as JsonSchema, parameters))
    // Parts of one object: its page has the padlock.
    .filter(({ path: route }) => !parameters.some((name) => route.includes(`/:${name}/`)))
    .map(({ id }) => id)
  expect(silent.sort()).toEqual(Object.keys(UNSAID).sort())
})

test('the views of the console are found', () => {
  const shown = new Set(restrictedViews.map(({ operation }) => operation))
  expect([...shown]).toEqual(
    expect.arrayContaining([
      'getJob',
      'listJobs',
      'getAuditEvent',
      'listAuditEvents',
      'getChangeRequest',
      'getRestriction',
    ]),
  )
})

test('every view has a padlock', () => {
  const without = new Set(restrictedViews.filter(({ hasPadlock }) => !hasPadlock).map(({ file }) => file))
  expect([...without].sort()).toEqual(Object.keys(WITHOUT_PADLOCK).sort())
})

test('the pages that the browser opens include every kind of object and list', () => {
  expect(objectPages.length).toBeGreaterThan(6)
  expect(listPages.length).toBeGreaterThan(5)
})

test('a tool call that waits is restricted by every kind of object that an operation shows by its id', () => {
  const schema = fs.readFileSync(path.join(projectRoot, 'docs/schema.sql'), 'utf8')
  const [, body = ''] = /FUNCTION app\.find_restricted\(.*?\$function\$(.*?)\$function\$/s.exec(schema) ?? []
  const covered = [...body.matchAll(/select [re]\.(\w+),/g)].map(([, parameter]) => parameter)
  const shown = new Set(restrictedOperations.flatMap(({ parameter }) => parameter ?? []))
  // An approval is what such a call waits for; it names itself in no argument.
  expect([...shown].filter((name) => !covered.includes(name)).sort()).toEqual(['approval_id'])
})
