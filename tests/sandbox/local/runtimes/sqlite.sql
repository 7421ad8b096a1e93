create table t (a integer primary key, b text);
insert into t values (1, 'x'), (2, 'y');
begin; delete from t where a = 2; rollback;
create index i on t (b);
vacuum;
select 'done' from t where (select count(*) from t) = 2 limit 1;
