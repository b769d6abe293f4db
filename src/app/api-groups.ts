/** How the API documentation is arranged: what a reader comes for first, the running of the service last. */
import type { TagGroup } from '#kernel/openapi-order.ts'

const recipes = (page: string): string => `\n\nCopy-and-run examples: [recipes](/api/docs/recipes/${page}.md).`

export const apiGroups: readonly TagGroup[] = [
  {
    name: 'Policy',
    tags: [
      {
        module: 'reference-data',
        title: 'Lists and imports',
        description: `Sanctions lists, country ratings and every other list that decisions read: typed, versioned, imported from files, put in force and rolled back. A version never changes; what is in force at an instant can always be asked for.${recipes('lists')}`,
      },
      {
        module: 'risk-matrices',
        title: 'Risk matrices',
        description: `Scoring models: factors, weights, bands and triggers. A version is proved complete before it is published, and tested on golden cases before it is put in force.${recipes('matrices')}`,
      },
      {
        module: 'rules',
        title: 'Rules',
        description: `Decision tables that say hit or no hit, versioned, proved and put in force like matrices.${recipes('matrices')}`,
      },
      {
        module: 'playbooks',
        title: 'Playbooks',
        description:
          'What an investigation gathers, by when, and how it may end: steps with their order and conditions, clocks and outcomes, versioned, proved and put in force like matrices.',
      },
    ],
  },
  {
    name: 'Decisions',
    tags: [
      {
        module: 'evaluations',
        title: 'Evaluations and replay',
        description: `One decision of a matrix or rule: the outcome, why, the versions it used, its exact replay and its certificate.${recipes('evaluations')}`,
      },
      {
        module: 'subjects',
        title: 'Subjects',
        description: `The customers and counterparties that are rated: their records, versions, ratings over time and overrides.${recipes('subjects')}`,
      },
      {
        module: 'batch-evaluations',
        title: 'Batches',
        description: `Decisions on a whole portfolio: estimate, start, stop and resume, summarise, compare, and repeat on a schedule.${recipes('batches')}`,
      },
    ],
  },
  {
    name: 'Sources',
    tags: [
      {
        module: 'source-contracts',
        title: 'Source contracts',
        description:
          'What payloads of providers must look like, versioned and put in force like matrices; the quarantine of payloads that do not; and how payloads drift.',
      },
      {
        module: 'providers',
        title: 'Providers and calls',
        description:
          'Whom the service asks for facts: manifests, versioned and put in force like lists, and the record of every call.',
      },
      {
        module: 'provider-credentials',
        title: 'Provider credentials',
        description:
          'What providers are called with: stored encrypted, versioned, never read back, with a log of every use and the list of what is missing.',
      },
      {
        module: 'tool-servers',
        title: 'Tool servers of other parties',
        description:
          'Servers that offer tools by the Model Context Protocol: what they offer, the definitions that were approved, and what changed since. Providers call the tools.',
      },
      {
        module: 'plugins',
        title: 'Plugins',
        description: `Factors, import adapters and providers written as code: uploaded, validated by their own examples, granted what they may reach, and put in force like lists. They run in a sandbox, and what needs one that cannot run answers 503.${recipes('plugins')}`,
      },
    ],
  },
  {
    name: 'Policy changes',
    tags: [
      {
        module: 'change-requests',
        title: 'Change requests',
        description: `Changes that wait for a second person: propose, look at the difference, approve, reject or withdraw.${recipes('changes')}`,
      },
      {
        module: 'impact',
        title: 'Impact and backtests',
        description: `What a new version would have done to past decisions, measured before anybody approves it.${recipes('batches')}`,
      },
      {
        module: 'break-glass',
        title: 'Emergency changes',
        description: 'Changes made in an emergency without approval, each reviewed by somebody else afterwards.',
      },
    ],
  },
  {
    name: 'Work',
    tags: [
      {
        module: 'alerts',
        title: 'Alerts',
        description: `What a person has to look at: raised by rules, matrices, source contracts and your own systems, each match once, claimed without double assignment, dismissed with a reason and a second person, or escalated.${recipes('alerts')}`,
      },
      {
        module: 'investigations',
        title: 'Investigations',
        description: `Cases that people work through by a playbook: gathered by the service, written up with citations, proposed by one person and closed by another.${recipes('investigations')}`,
      },
      {
        module: 'work',
        title: 'Queues and clocks',
        description: `Who works on what: queues as data, assignment, absence, and the service and statutory clocks by which it is due.${recipes('alerts')}`,
      },
    ],
  },
  {
    name: 'Overview',
    tags: [
      {
        module: 'analytics',
        title: 'Overview and portfolio',
        description: 'What needs the caller today, by role, and the portfolio by band over time.',
      },
      {
        module: 'search',
        title: 'Find objects',
        description:
          'Finds subjects, lists, entries, matrices, decisions and more by name, key or id, within what the caller may read.',
      },
    ],
  },
  {
    name: 'Evidence',
    tags: [
      {
        module: 'audit',
        title: 'Audit and proofs',
        description: `The record of every change: hash-chained, searchable, verified daily, exported with its proofs.${recipes('audit')}`,
      },
      {
        module: 'documents',
        title: 'Documents and evidence',
        description: `Files about subjects and cases: stored encrypted, recognised by content, scanned, checked against their hashes, with their chain of custody; and evidence items that name what a finding rests on.${recipes('documents')}`,
      },
      {
        module: 'reports',
        title: 'Reports',
        description:
          'Decision explanations, dossiers, change notes and overviews as JSON, HTML, CSV and PDF: made from a stored snapshot, made again byte for byte to verify, on request or on a schedule.',
      },
      {
        module: 'restrictions',
        title: 'Restricted access',
        description: `Who may see a confidential object and all that belongs to it: access lists, exclusions, the designated MLRO, access for auditors that ends by itself, and who read what.${recipes('documents')}`,
      },
      {
        module: 'holds',
        title: 'Legal holds',
        description: `What must be kept whatever a retention policy or a request says: nothing that belongs to the object can be deleted or erased until another person releases the hold.${recipes('documents')}`,
      },
    ],
  },
  {
    name: 'Administration',
    tags: [
      {
        module: 'mcp',
        title: 'Assistants and tools',
        description:
          'What assistants may do over the Model Context Protocol at `POST /api/mcp`: tools by role, the tool policy, calls that wait for a person, and the log of every call.',
      },
      {
        module: 'tenant',
        title: 'Tenant and approval policy',
        description: `Profile of the tenant, who has to approve what, how long records are kept, and the proof of tenant isolation.${recipes('changes')}`,
      },
      {
        module: 'access',
        title: 'People and API keys',
        description: `Users with their roles and absences, and the keys of machine clients.${recipes('administration')}`,
      },
      {
        module: 'auth',
        title: 'Sign-in and tokens',
        description: `Exchange an API key for a token, see what a token may do, revoke it.${recipes('administration')}`,
      },
    ],
  },
  {
    name: 'Running the service',
    tags: [
      {
        module: 'events',
        title: 'Events',
        description: `What happened, as ids in CloudEvents 1.0, for systems that follow changes without asking for each object.${recipes('alerts')}`,
      },
      {
        module: 'jobs',
        title: 'Jobs',
        description: 'Long work of any kind: its state and progress, cancelled or started again.',
      },
      {
        module: 'system',
        title: 'Uploads, probes and contract',
        description: 'Uploads, health probes, limits, the catalogue of problems and this document.',
      },
    ],
  },
]
