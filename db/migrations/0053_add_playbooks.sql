-- Playbooks: what an investigation gathers, by when, and how it may end. A playbook is a versioned definition of its own family; its
-- parts are settings, facts, clocks, steps and outcomes.

insert into app.definition_family (family, title) values ('playbook', 'Playbooks');
