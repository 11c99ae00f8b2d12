BEGIN TRANSACTION;
CREATE TABLE llm_judge_evaluations (
	id INTEGER NOT NULL, 
	row_id INTEGER NOT NULL, 
	judge VARCHAR(200) NOT NULL, 
	fingerprint VARCHAR(32) NOT NULL, 
	label VARCHAR(40), 
	score FLOAT, 
	result TEXT, 
	error TEXT, 
	created_at VARCHAR(32) NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT llm_judge_evaluation_once UNIQUE (row_id, judge, fingerprint)
);
INSERT INTO "llm_judge_evaluations" VALUES(1,1,'GradingJudge','4ed5c0306a08f717','pass',1.0,'{"$type": "judges.grading:Grade", "$value": {"criteria": {"Quality": {"$type": "judges.criteria:CriterionGrade", "$value": {"level": 5, "reason": "r", "score": 1.0}}}, "injection": [], "judge": "ScriptedJudgeModel", "passed": true, "prompt_version": "grade/1+30d9a6bb", "reason": "Quality (1.00): r", "score": 1.0, "threshold": 0.5, "usage": {"$type": "results:Usage", "$value": {"calls": 1, "cost_usd": null, "input_tokens": null, "output_tokens": null}}}}',NULL,'2026-12-01T01:33:29.900944+00:00');
CREATE TABLE llm_judge_judges (
	id INTEGER NOT NULL, 
	run_id VARCHAR(32) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	fingerprint VARCHAR(32) NOT NULL, 
	identity TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "llm_judge_judges" VALUES(1,'30e3153d3a0f4c029c01e64b890268e0','GradingJudge','4ed5c0306a08f717','{"criteria": [{"description": "Is the output right, complete and to the point for the task?", "levels": ["wrong or beside the task", "mostly wrong, or most of it missing", "right in part, with a real error or gap", "right but for a small error or gap, or longer than it need be", "right, complete and to the point"], "name": "Quality", "weight": 1.0}], "judge": "GradingJudge", "model": "ScriptedJudgeModel", "name": "GradingJudge", "prompt": "grade/1+30d9a6bb", "temperature": null, "threshold": 0.5}');
CREATE TABLE llm_judge_measures (
	id INTEGER NOT NULL, 
	evaluation_id INTEGER NOT NULL, 
	metric VARCHAR(200) NOT NULL, 
	score FLOAT, 
	PRIMARY KEY (id)
);
INSERT INTO "llm_judge_measures" VALUES(1,1,'grade',1.0);
INSERT INTO "llm_judge_measures" VALUES(2,1,'Quality',1.0);
CREATE TABLE llm_judge_members (
	id INTEGER NOT NULL, 
	run_id VARCHAR(32) NOT NULL, 
	"key" VARCHAR(200) NOT NULL, 
	content VARCHAR(32) NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "llm_judge_members" VALUES(1,'30e3153d3a0f4c029c01e64b890268e0','r0','1d79e91b80ae2709');
CREATE TABLE llm_judge_rows (
	id INTEGER NOT NULL, 
	run_id VARCHAR(32) NOT NULL, 
	"key" VARCHAR(200) NOT NULL, 
	repeat INTEGER NOT NULL, 
	content VARCHAR(32) NOT NULL, 
	inputs TEXT NOT NULL, 
	error TEXT, 
	created_at VARCHAR(32) NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT llm_judge_row_once UNIQUE (run_id, "key", repeat, content)
);
INSERT INTO "llm_judge_rows" VALUES(1,'30e3153d3a0f4c029c01e64b890268e0','r0',0,'1d79e91b80ae2709','{"id": "r0", "output": "o", "task": "t"}',NULL,'2026-12-01T01:33:29.899996+00:00');
CREATE TABLE llm_judge_runs (
	id VARCHAR(32) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	package_version VARCHAR(40) NOT NULL, 
	repeats INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "llm_judge_runs" VALUES('30e3153d3a0f4c029c01e64b890268e0','old','2026-12-01T01:33:29.712470+00:00','unknown',1);
CREATE TABLE llm_judge_schema (
	version INTEGER NOT NULL
);
INSERT INTO "llm_judge_schema" VALUES(1);
CREATE INDEX llm_judge_judges_by_run ON llm_judge_judges (run_id);
CREATE INDEX llm_judge_members_by_run ON llm_judge_members (run_id, "key", content);
CREATE INDEX llm_judge_measures_by_evaluation ON llm_judge_measures (evaluation_id);
COMMIT;
