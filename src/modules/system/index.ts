/** Public interface of the system router: probes, contract, uploads. Other modules read uploaded bytes through it. */
import type { Module } from '#kernel/module.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import {
  insertCanaryAnswer,
  insertCanaryProcess,
  insertUpload,
  insertUploadChunk,
  storedResponseErasure,
  uploadErasure,
} from './queries.ts'
import { systemRoutes } from './routes.ts'

export { findUpload, lockUpload, removeUpload, type UploadRow } from './queries.ts'
export { claimUpload, completeBytes, readUpload, readUploadChunk, writeBytes } from './uploads.ts'

export const system: Module = {
  name: 'system',
  segments: ['health', 'openapi.json', 'docs', 'version', 'errors', 'uploads', 'capabilities', 'limits'],
  tier: 'foundation',
  summary: 'Probes, machine-readable contract, uploads, and what the running service can do.',
  routes: systemRoutes,
  jobs: [],
  search: {
    sources: [],
    unsearched: {
      getUpload: 'An upload is opened from the import or batch that used it.',
    },
  },
  erases: [storedResponseErasure, uploadErasure],
  canary_table: 'upload',
  canary: async (tx) => {
    const upload_id = uuidv7()
    await insertUpload(tx, upload_id, 'canary')
    await insertUploadChunk(tx, upload_id, 0, Buffer.from('canary'))
    await insertCanaryAnswer(tx)
    await insertCanaryProcess(tx)
  },
}
