/**
 * A kind of definition that exists only in tests: notices to customers, written as paragraphs that may name a list. It shows
 * what a new kind consists of: this file, a row of app.definition_family and a line in the list of modules.
 */
import { fullScope } from '#kernel/database/scope.ts'
import type { Module } from '#kernel/module.ts'
import { createDefinitionRoutes, type documentStore, resolver, typeStore } from '#modules/definitions/index.ts'
import type { TestApp } from './test-app.ts'

interface Paragraph {
  readonly name: string
  readonly text: string
  readonly list_key?: string
}

const getParagraphs = ({ paragraphs }: documentStore.DefinitionText): readonly Paragraph[] =>
  Array.isArray(paragraphs) ? (paragraphs as Paragraph[]) : []

const findReferences: documentStore.DefinitionKind['findReferences'] = async (tx, text) => {
  const references = getParagraphs(text).flatMap(({ list_key }, index) =>
    list_key === undefined ? [] : [{ list_key, pointer: `/paragraphs/${index}/list_key`, key: null, field: null }],
  )
  const keys = [...new Set(references.map(({ list_key }) => list_key))]
  return { lists: await resolver.findPointersInForce(tx, keys, {}), references }
}

export const noticeKind: documentStore.DefinitionKind = {
  family: 'notice',
  segment: 'notices',
  param: 'notice_key',
  noun: 'Notice',
  word: 'notice',
  type_key: 'notice-part',
  example: 'account-closed',
  reserved: [],
  has_profile: false,
  has_impact: false,
  operations: {
    list: 'listNotices',
    create: 'createNotice',
    get: 'getNotice',
    update: 'updateNotice',
    archive: 'archiveNotice',
    listDependencies: 'listNoticeDependencies',
    listVersions: 'listNoticeVersions',
    createDraft: 'createNoticeDraft',
    getVersion: 'getNoticeVersion',
    updateDraft: 'updateNoticeDraft',
    deleteDraft: 'deleteNoticeDraft',
    publishDraft: 'publishNoticeDraft',
    diffVersions: 'diffNoticeVersions',
    listActivations: 'listNoticeActivations',
    activateVersion: 'activateNoticeVersion',
    submitVersion: 'submitNoticeVersion',
    rollBack: 'rollBackNotice',
    pin: 'pinNotice',
    unpin: 'unpinNotice',
    deleteActivation: 'deleteNoticeActivation',
  },
  toEntries: (text) => getParagraphs(text).map((paragraph, position) => ({ ...paragraph, position })),
  fromEntries: (entries) => ({
    paragraphs: entries
      .toSorted((a, b) => Number(a['position']) - Number(b['position']))
      .map(({ position: _, ...paragraph }) => paragraph),
  }),
  async validate(_kernel, tx, { text }) {
    const { lists, references } = await findReferences(tx, text)
    const missing = references.filter(({ list_key }) => !lists.has(list_key))
    const findings: documentStore.Finding[] = missing.map(({ list_key, pointer }) => ({
      code: 'list_not_in_force',
      pointer,
      message: `No version of the list ${list_key} is in force.`,
      severity: 'error',
    }))
    if (getParagraphs(text).length === 0) {
      findings.push({ code: 'empty', pointer: '/paragraphs', message: 'A notice says something.', severity: 'error' })
    }
    return { findings, list_keys: [...lists.keys()], proof: { paragraphs: getParagraphs(text).length } }
  },
  findReferences,
  checkInForce: async () => [],
  describe: (text) => getParagraphs(text).map((paragraph) => paragraph.text),
}

export const notices: Module = {
  name: 'notices',
  segments: ['notices'],
  tier: 'domain',
  summary: 'Notices to customers; only in tests.',
  routes: createDefinitionRoutes(noticeKind),
  definition_kinds: [noticeKind],
  jobs: [],
  canary: async () => {},
}

const SYSTEM = '00000000-0000-0000-0000-000000000000'

/** What a migration and a seed would do. */
export async function installNoticeKind(w: TestApp, insertRow: (sql: string) => Promise<unknown>): Promise<void> {
  await insertRow(`insert into app.definition_family (family, title) values ('notice', 'Notices')`)
  const definition = typeStore.toTypeContent({
    title: 'Part of a notice',
    description: 'One paragraph.',
    schema: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        text: { type: 'string' },
        list_key: { type: 'string' },
        position: { type: 'integer' },
      },
      required: ['name', 'text', 'position'],
      additionalProperties: false,
    },
    key_pointers: ['/name'],
    examples: [{ name: 'opening', text: 'Dear customer,', position: 0 }],
  })
  await w.steward.write(fullScope(SYSTEM, 'operator:test'), (tx) =>
    typeStore.insertType(tx, {
      type_key: noticeKind.type_key,
      type_version: 1,
      definition,
      definition_hash: typeStore.hashTypeContent(definition),
      compatibility: 'backward',
    }),
  )
}
