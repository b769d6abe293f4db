/** All commands of the operator's tool, in the groups of the help text. */
import { api, worker } from './api-worker.ts'
import { backup } from './backup.ts'
import type { Command } from './command.ts'
import { doctor } from './doctor.ts'
import { keysRenew, keysRetire, keysRewrap } from './master-keys.ts'
import { migrate } from './migrate.ts'
import { openapi } from './openapi.ts'
import {
  referenceDataActivate,
  referenceDataDiff,
  referenceDataList,
  referenceDataRollback,
  referenceDataSchedule,
  referenceDataTypes,
  referenceDataWithdraw,
} from './reference-data.ts'
import { referenceDataImport } from './reference-data-import.ts'
import { referenceDataIndex } from './reference-data-index.ts'
import { restore } from './restore.ts'
import { roles } from './roles.ts'
import { seed } from './seed.ts'
import { keysList, keysRotate } from './signing-keys.ts'
import { start } from './start.ts'
import { tenantCreate, tenantList, tenantResume, tenantSuspend } from './tenant.ts'
import { token } from './token.ts'
import { userAdd, userReactivate } from './user.ts'
import { verifyAudit, verifyProofFile } from './verify.ts'
import { verifyCertificate } from './verify-certificate.ts'

export const commandGroups: readonly (readonly [title: string, commands: readonly Command[]])[] = [
  ['Run', [start, api, worker]],
  ['Database', [migrate, roles, seed, backup, restore]],
  [
    'Tenants and access',
    [tenantCreate, tenantList, tenantSuspend, tenantResume, userAdd, userReactivate, token, keysList, keysRotate],
  ],
  ['Master and integrity keys', [keysRewrap, keysRetire, keysRenew]],
  [
    'Shared lists',
    [
      referenceDataList,
      referenceDataTypes,
      referenceDataImport,
      referenceDataIndex,
      referenceDataDiff,
      referenceDataActivate,
      referenceDataSchedule,
      referenceDataRollback,
      referenceDataWithdraw,
    ],
  ],
  ['Look', [openapi, doctor, verifyAudit, verifyProofFile, verifyCertificate]],
]

export const commands: readonly Command[] = commandGroups.flatMap(([, list]) => list)
