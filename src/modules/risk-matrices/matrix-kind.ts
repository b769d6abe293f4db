/** Risk matrices as a kind of definition. */
import { createDecisionKind } from './decision-kind.ts'

export const matrixKind = createDecisionKind({
  family: 'matrix',
  segment: 'risk-matrices',
  param: 'matrix_key',
  noun: 'RiskMatrix',
  word: 'matrix',
  type_key: 'risk-matrix-part',
  example: 'customer-risk-person',
  reserved: [],
  tools: {
    get: {
      name: 'get_matrix',
      title: 'Get a risk matrix',
      description:
        'One risk matrix by matrix_key: what it rates, its versions, the one in force and whether it still holds for the lists it ' +
        'reads. The resource probity://matrices/{matrix_key} is the same.',
      effect: 'read',
    },
  },
  operations: {
    list: 'listRiskMatrices',
    create: 'createRiskMatrix',
    get: 'getRiskMatrix',
    update: 'updateRiskMatrix',
    archive: 'archiveRiskMatrix',
    listDependencies: 'listRiskMatrixDependencies',
    listVersions: 'listRiskMatrixVersions',
    createDraft: 'createRiskMatrixDraft',
    getVersion: 'getRiskMatrixVersion',
    updateDraft: 'updateRiskMatrixDraft',
    deleteDraft: 'deleteRiskMatrixDraft',
    publishDraft: 'publishRiskMatrixDraft',
    diffVersions: 'diffRiskMatrixVersions',
    validateVersion: 'validateRiskMatrixVersion',
    simulateVersion: 'simulateRiskMatrixVersion',
    testVersion: 'testRiskMatrixVersion',
    listCases: 'listRiskMatrixCases',
    createCase: 'createRiskMatrixCase',
    deleteCase: 'deleteRiskMatrixCase',
    listActivations: 'listRiskMatrixActivations',
    activateVersion: 'activateRiskMatrixVersion',
    submitVersion: 'submitRiskMatrixVersion',
    rollBack: 'rollBackRiskMatrix',
    pin: 'pinRiskMatrix',
    unpin: 'unpinRiskMatrix',
    deleteActivation: 'deleteRiskMatrixActivation',
  },
})
