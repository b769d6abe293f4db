/**
 * Small faults in the source that `npm test` must notice. Each replaces one text that occurs exactly once in its file;
 * `killers` are test files, deterministic ones, of which at least one fails with it.
 */
export interface CodeMutant {
  readonly name: string
  readonly file: string
  readonly text: string
  readonly replacement: string
  readonly killers: readonly string[]
}

export const codeMutants: readonly CodeMutant[] = [
  {
    name: 'a route accepts one role too many',
    file: 'src/modules/access/routes.ts',
    text: "      'anybody else would get its roles without approval.',\n    roles: ['tenant_admin'],\n",
    replacement:
      "      'anybody else would get its roles without approval.',\n    roles: ['tenant_admin', 'analyst'],\n",
    killers: ['test/documents.test.ts'],
  },
  {
    name: 'roles are not checked',
    file: 'src/kernel/http/authentication.ts',
    text: 'if (actor.roles.some((role) => route.roles.includes(role))) return\n',
    replacement: 'if (actor.roles.length >= 0) return\n',
    killers: ['test/http/check-order.test.ts'],
  },
  {
    name: 'a job is claimed without its tenant predicate',
    file: 'src/kernel/job/queries.ts',
    text: ' and j.tenant_id = (select tenant_id from turn)\n        order by j.tenant_id, j.run_at, j.job_id',
    replacement: ' and (select tenant_id from turn) is not null\n        order by j.run_at, j.job_id',
    killers: ['src/kernel/job/runner.test.ts'],
  },
  {
    name: 'the limit of unfinished jobs is skipped',
    file: 'src/kernel/job/queries.ts',
    text: 'where $11::bigint is null or ',
    replacement: 'where true or ',
    killers: ['src/kernel/job/queue.test.ts'],
  },
  {
    name: 'a cached token is used whatever token a connection sends next',
    file: 'src/kernel/http/authentication.ts',
    text: 'if (last && last.header === header && this.#verifier.isStillValid(last.known))',
    replacement: 'if (last && this.#verifier.isStillValid(last.known))',
    killers: ['test/hostile/interleave.test.ts'],
  },
  {
    name: 'an audit event is not written',
    file: 'src/kernel/http/dispatch.ts',
    text: '    const event_id = recordEvent(tx, this.#kernel.auditKeys, {',
    replacement: '    const event_id = route.starts && recordEvent(tx, this.#kernel.auditKeys, {',
    killers: ['test/audit/record.test.ts'],
  },
  {
    name: 'an idempotency key is ignored',
    file: 'src/kernel/request/idempotency.ts',
    text: '  if (!idempotency) return effect()\n',
    replacement: '  if (!idempotency || !idempotency.secret) return effect()\n',
    killers: ['test/http/idempotency.test.ts'],
  },
  {
    name: 'If-Match is not compared',
    file: 'src/kernel/revision.ts',
    text: "    fail('precondition_failed')\n",
    replacement: '    void current\n',
    killers: ['test/http/concurrency.test.ts'],
  },
  {
    name: 'approval is not asked for',
    file: 'src/kernel/request/approval.ts',
    text: 'return rule && propose(tx, {',
    replacement: 'return rule && rule.approvers < 2 ? undefined : rule && propose(tx, {',
    killers: ['src/modules/access/four-eyes.test.ts'],
  },
  {
    name: 'a repeated answer is not redacted',
    file: 'src/kernel/http/dispatch.ts',
    text: 'return visible === value ? response : {',
    replacement: 'return visible !== undefined ? response : {',
    killers: ['test/visibility.test.ts'],
  },
  {
    name: 'the rate of a principal is not counted',
    file: 'src/kernel/limits.ts',
    text: 'const own = this.#buckets.take(`p:',
    replacement: 'const own = this.#buckets.peek(`p:',
    killers: ['src/kernel/limits.test.ts', 'test/http/limits.test.ts'],
  },
  {
    name: 'a running job is given to a second worker',
    file: 'src/kernel/job/queries.ts',
    text: "where state = 'running' and lease_until < now()\n",
    replacement: "where state = 'running' and lease_until < now() + interval '1 hour'\n",
    killers: ['src/kernel/job/runner.test.ts'],
  },
  {
    name: 'the signature of a token is not verified',
    file: 'src/kernel/auth/token-verifier.ts',
    text: "await compactVerify(token, key, { algorithms: [alg] }).catch(() => fail('token_invalid'))",
    replacement: 'void compactVerify(token, key, { algorithms: [alg] }).catch(() => {})',
    killers: ['src/kernel/auth/token-verifier.test.ts'],
  },
  {
    name: 'the signature of an audit checkpoint is not verified',
    file: 'src/kernel/audit/chain-verifier.ts',
    text: 'if (keys?.verifyCheckpoint(checkpoint) === false) {',
    replacement: 'if (keys?.verifyCheckpoint(checkpoint) === undefined) {',
    killers: ['src/kernel/audit/chain.test.ts', 'test/audit/verify.test.ts'],
  },
  {
    name: 'a suspended tenant is let in',
    file: 'src/kernel/http/authentication.ts',
    text: "    if (status.state !== 'active') return this.#rejectAnonymous(address, new Problem('tenant_suspended'))\n",
    replacement: '',
    killers: ['test/http/tokens.test.ts'],
  },
  {
    name: 'a revoked token is let in',
    file: 'src/kernel/http/authentication.ts',
    text: "    if (isDenied(token, status)) return this.#rejectAnonymous(address, new Problem('token_revoked'))\n",
    replacement: '',
    killers: ['test/http/tokens.test.ts'],
  },
  {
    name: 'a cursor is not bound to its tenant',
    file: 'src/kernel/cursor.ts',
    text: "canonicalJson(['cursor/1', tenant_id, route, filters])",
    replacement: "canonicalJson(['cursor/1', tenant_id.length, route, filters])",
    killers: ['src/kernel/cursor.test.ts'],
  },
  {
    name: 'who asked for a key approves what the key proposed',
    file: 'src/modules/change-requests/routes.ts',
    text: '  if (tx.actor === (await findRequester(tx, request.created_by))) {\n',
    replacement: "  if (tx.actor === '' && (await findRequester(tx, request.created_by))) {\n",
    killers: ['src/modules/access/four-eyes.test.ts', 'src/modules/change-requests/routes.test.ts'],
  },
  {
    name: 'a change request is executed on a state that has moved',
    file: 'src/modules/change-requests/approval-gates.ts',
    text: '  return (await route.governed.head(tx, { ...request.params })) !== request.head\n',
    replacement: '  return (await route.governed.head(tx, { ...request.params })) === undefined\n',
    killers: ['src/modules/change-requests/routes.test.ts'],
  },
  {
    name: 'a break-glass change leaves no review',
    file: 'src/kernel/request/break-glass.ts',
    text: '  if (!rule || !route.governed) return undefined\n',
    replacement: '  if (rule || !route.governed) return undefined\n',
    killers: ['src/modules/reference-data/governance.test.ts'],
  },
  {
    name: 'an outbound request reaches a private address',
    file: 'src/kernel/egress/targets.ts',
    text: "    if (found !== 'public' && !(rule === 'listed' && found === 'private')) refuse('address_not_public')\n",
    replacement: "    if (found === 'forbidden') refuse('address_not_public')\n",
    killers: ['src/kernel/egress/hostile-urls.test.ts'],
  },
  {
    name: 'only the first address of a name is checked',
    file: 'src/kernel/egress/targets.ts',
    text: '  for (const address of addresses) {\n',
    replacement: '  for (const address of addresses.slice(0, 1)) {\n',
    killers: ['src/kernel/egress/hostile-urls.test.ts'],
  },
  {
    name: 'an input value changes the path of a request',
    file: 'src/provider/render-request.ts',
    text: ": encodeComponent(getText(input, part.name) ?? '')",
    replacement: ": (getText(input, part.name) ?? '')",
    killers: ['src/provider/render-request.test.ts'],
  },
  {
    name: 'a name that is repeated in a JSON object is accepted',
    file: 'src/kernel/strict-json.ts',
    text: '      if (set ? set.has(name) : names.includes(name)) {\n',
    replacement: '      if (this.at < 0) {\n',
    killers: ['src/kernel/strict-json.test.ts'],
  },
  {
    name: 'a step that was left out is not examined again at closing',
    file: 'src/modules/investigations/lifecycle/guards.ts',
    text: "if (action === 'propose_outcome' || action === 'close') found.push(...listApplyingGuards(investigation, content))",
    replacement: "if (action === 'propose_outcome') found.push(...listApplyingGuards(investigation, content))",
    killers: ['src/modules/investigations/investigations.test.ts'],
  },
  {
    name: 'an outcome does without the steps that it needs and that were waived, without a reason',
    file: 'src/modules/investigations/lifecycle/outcomes.ts',
    text: 'if (without.length === 0 || has_reason) return missing',
    replacement: 'if (without.length === 0 || !has_reason) return missing',
    killers: ['src/modules/investigations/investigations.test.ts'],
  },
  {
    name: 'tools of investigations are on by default',
    file: 'src/kernel/auth/tool-policy.ts',
    text: "  if (named.length === 0 && optInTools.has(tool)) return 'forbid'\n",
    replacement: '',
    killers: ['src/modules/mcp/tools.test.ts'],
  },
  {
    name: 'a tool shows restricted objects to callers with access',
    file: 'src/kernel/http/operation-caller.ts',
    text: 'scope: unrestrictedScope(actor.tenant_id, actor.principal)',
    replacement: 'scope: requestScope(actor)',
    killers: ['src/modules/mcp/tool-policy.test.ts'],
  },
  {
    name: 'a restricted case is joined',
    file: 'src/modules/investigations/opening/queries.ts',
    text: "state in ('open', 'proposed') and joins for key share",
    replacement: "state in ('open', 'proposed') for key share",
    killers: ['src/modules/investigations/schema.test.ts'],
  },
  {
    name: 'alerts that open no case hide those that do',
    file: 'src/modules/investigations/opening/queries.ts',
    text: 'where w.rule_code is not distinct from a.rule_code and w.subject_type = s.subject_type)',
    replacement: 'where true)',
    killers: ['src/modules/investigations/investigations.test.ts'],
  },
]
