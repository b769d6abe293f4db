/** What the rules of test/architecture.test.ts let pass, with the reason. */

/** Maps and sets of a whole process that are written while it runs, with what bounds them; others are a BoundedMap or a declared cache. */
export const processMaps: Readonly<Record<string, string>> = {
  'src/contract/contract-worker.ts compiled': 'drops the oldest above MAX_COMPILED',
  'src/kernel/canonical-json.ts writtenNames': 'cleared at MAX_KNOWN_NAMES',
  'src/kernel/database/failures.ts constraints': 'one entry per constraint that a module declares',
  'src/kernel/database/pipeline.ts statementNames': 'one entry per statement text of the source; values are parameters',
  'src/modules/mcp/readiness.ts compiledSchemas': 'one entry per operation that is a tool',
  'src/modules/mcp/run-approval.ts running': 'one entry per run that has not ended',
  'src/modules/playbooks/check-playbook.ts validators': 'one entry per kind of step',
  'src/plugin/manifest.ts validators': 'one entry per kind of plugin',
  'src/provider/check-manifest.ts validators': 'one entry per schema of the source',
  'src/registry/adapters/gleif-tree.ts split_paths': 'one entry per path of the source',
  'src/registry/types/type-worker.ts compiled': 'drops the oldest above MAX_CACHED_TYPES',
}

/** Functions that may exceed the limits, with the reason. */
export const longFunctions: Readonly<Record<string, string>> = {
  'src/app/embedded/roles.ts rolesSql': 'one SQL script, printed for the operator as it is',
  'src/modules/definitions/documents/activation-routes.ts createActivationRoutes': 'a list of route declarations',
  'src/modules/definitions/documents/schema.ts createDefinitionSchemas': 'a list of schemas of one kind',
  'src/modules/definitions/documents/settings-routes.ts createSettingsRoutes': 'a list of route declarations',
  'src/modules/definitions/documents/version-routes.ts createVersionRoutes': 'a list of route declarations',
  'src/modules/risk-matrices/cases/routes.ts createCaseRoutes': 'a list of route declarations',
  'console/src/ui/decision/reason-text.ts formatInterval': 'String.replaceAll passes each group as an argument',
  'console/src/ui/definition/editor/draft-edits.ts renameReferences': 'called twice, by the two functions above it',
  ...Object.fromEntries(
    [
      'areas/audit/event-page.tsx EventPage',
      'areas/batches/batches-page.tsx BatchesPage',
      'areas/datasets/diff-page.tsx Difference',
      'areas/home/second-person-section.tsx SecondPersonSection',
      'areas/inbox/inbox-page.tsx InboxPage',
      'areas/investigations/investigation-page.tsx Workspace',
      'areas/provider-credentials/credential-page.tsx VersionEntry',
      'areas/reports/reports-page.tsx ReportsPage',
      'areas/source-contracts/quarantine-page.tsx QuarantinePage',
      'areas/subjects/subjects-page.tsx SubjectsPage',
      'ui/definition/versions-tab.tsx Version',
    ].map((name) => [`console/src/${name}`, 'a list or record: its columns and actions in the order of the page']),
  ),
  ...Object.fromEntries(
    [
      'areas/evaluations/new-evaluation-page.tsx EvaluationForm',
      'areas/investigations/attach-evidence.tsx AttachEvidence',
      'areas/investigations/narrative-tab.tsx NarrativeEditor',
      'areas/investigations/tasks.tsx TaskItem',
      'areas/providers/new-provider-page.tsx NewProviderPage',
      'areas/providers/settle-call.tsx AnswerDialog',
      'areas/reports/new-report.tsx NewReport',
      'areas/source-contracts/facts-part.tsx FactFields',
      'areas/source-contracts/payload-tester.tsx PayloadTester',
      'areas/source-contracts/samples-form.tsx SamplesForm',
      'areas/tenant/approval-policy-page.tsx PolicyForm',
      'areas/tools/policy-section.tsx EditPolicy',
      'ui/json-editor.tsx JsonEditor',
      'ui/work/open-case.tsx OpenCase',
    ].map((name) => [`console/src/${name}`, 'a form: its fields share the values that one request sends']),
  ),
  'src/registry/formats/fault.ts reject': 'every adapter calls it, mostly with the first three or four',
}
