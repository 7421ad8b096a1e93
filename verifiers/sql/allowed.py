"""Names of the functions that a query may call: pure ones, which give the same for the same values.

Everything else is refused, so a function that a library or an engine adds tomorrow reaches no file,
clock, network or setting. Names are those of sqlglot's classes, or of the call if it has no class.
"""

from __future__ import annotations

from sqlglot import exp

_CLASSES = """
Abs Acos Acosh AddMonths And AnyValue ApproxDistinct ArgMax ArgMin Array ArrayAgg ArrayAll
ArrayAny ArrayConcat ArrayContains ArrayContainsAll ArrayDistinct ArrayFirst ArrayLast ArrayMax
ArrayMin ArrayOverlaps ArrayPosition ArrayReverse ArraySize ArraySlice ArraySort ArraySum
ArrayToString Ascii Asin Asinh Atan Atan2 Atanh Avg Base64Encode BitLength BitwiseAndAgg
BitwiseCount BitwiseOrAgg BitwiseXorAgg Booland Boolnot Boolor ByteLength Case Cast
CastToStrType Cbrt Ceil Chr Coalesce Collate Concat ConcatWs Contains Convert Corr Cos Cosh Cot
Coth Count CountIf CovarPop CovarSamp CumeDist CurrentDate CurrentDatetime CurrentTime
CurrentTimestamp Date DateAdd DateBin DateDiff DateFromParts DateFromUnixDate DateStrToDate
DateSub DateToDateStr DateToDi DateTrunc Datetime DatetimeAdd DatetimeDiff DatetimeSub
DatetimeTrunc Day DayOfMonth DayOfWeek DayOfWeekIso DayOfYear Dayname DecodeCase Degrees
DenseRank DiToDate Elt EndsWith EqualNull Exists Exp Explode ExplodingGenerateSeries Extract
Factorial First FirstValue Floor Format GenerateDateArray GenerateSeries GenerateTimestampArray
GetIgnoreCase Greatest GroupConcat Grouping GroupingId Hex Hour If Initcap IsAscii IsInf IsNan
IsNullValue JSONArray JSONArrayAgg JSONArrayContains JSONExists JSONExtract JSONExtractArray
JSONExtractScalar JSONKeys JSONObject JSONObjectAgg JSONType JSONBExtract JSONBExtractScalar
JarowinklerSimilarity JustifyDays JustifyHours JustifyInterval Kurtosis Lag Last LastDay
LastValue Lead Least Left Length Levenshtein Ln Localtime Localtimestamp Log LogicalAnd
LogicalOr Lower LowerHex MD5 MakeInterval Max Median Min Minute Mode Month Monthname
MonthsBetween NextDay NthValue Ntile Nullif NumberToStr Nvl2 Or Overlay Pad ParseJSON
PercentRank PercentileCont PercentileDisc Pi Pow PreviousDay Quantile Quarter Radians Rank
RegexpCount RegexpExtract RegexpExtractAll RegexpFullMatch RegexpILike RegexpInstr RegexpLike
RegexpReplace RegexpSplit RegexpSubstr RegrAvgx RegrAvgy RegrCount RegrIntercept RegrR2
RegrSlope RegrSxx RegrSxy RegrSyy Repeat Replace Reverse Right Rint Round RowNumber SHA SHA2
SafeAdd SafeDivide SafeMultiply SafeNegate SafeSubtract Sec Second Sign Sin Sinh Skewness
Soundex Space Split SplitPart Sqrt StartsWith Stddev StddevPop StddevSamp StrPosition StrToDate
StrToTime StrToUnix String StringToArray Strtok Stuff Substring SubstringIndex Sum Tan Tanh Time
TimeAdd TimeDiff TimeFromParts TimeStrToDate TimeStrToTime TimeStrToUnix TimeSub TimeToStr
TimeToTimeStr TimeToUnix TimeTrunc Timestamp TimestampAdd TimestampDiff TimestampFromParts
TimestampSub TimestampTrunc ToBase64 ToBoolean ToChar ToDays ToDouble ToNumber Translate Trim
Trunc Try TryCast TsOrDiToDi TsOrDsAdd TsOrDsDiff TsOrDsToDate TsOrDsToDateStr TsOrDsToDatetime
TsOrDsToTime TsOrDsToTimestamp Typeof Unhex Unicode UnixDate UnixMicros UnixMillis UnixSeconds
UnixToStr UnixToTime UnixToTimeStr Unnest Upper UtcDate UtcTime UtcTimestamp Variance
VariancePop Week WeekOfYear WidthBucket Xor Year YearOfWeek YearOfWeekIso
"""
_NAMES = """
abs acos adddate addtime age approx_count_distinct array_length ascii asin atan atan2 avg
bin bit_and bit_count bit_length bit_or bit_xor bool_and bool_or btrim cardinality cbrt ceil
ceiling char char_length character_length charindex choose coalesce concat concat_ws contains
conv cos cot count crc32 curdate curtime date date_add date_diff date_format date_part date_sub
date_trunc dateadd datediff datefromparts datename datepart datetime day dayname dayofmonth
dayofweek dayofyear decode degrees difference div elt ends_with eomonth epoch every exp
export_set field find_in_set floor format from_days from_unixtime gcd greatest group_concat hex
hour if ifnull iif initcap insert instr interval isdate isfinite isnull isnumeric isodow
json_array json_array_length json_contains json_extract json_length json_object
json_quote json_type json_unquote json_valid julianday justify_interval last_day lcase lcm least
left len length likelihood likely ln localtimestamp locate log log10 log2 lower lpad ltrim
make_date make_time make_timestamp makedate maketime max md5 median microsecond mid min minute mod
month monthname now nullif nvl nvl2 oct octet_length ord overlay parsename patindex percent_rank
period_add period_diff pi position pow power printf quarter quote quotename radians regexp_instr
regexp_like regexp_matches regexp_replace regexp_substr repeat replace replicate reverse right
round rpad rtrim sec_to_time second sha1 sign sin soundex space split_part sqrt square std stddev
stddev_pop stddev_samp str str_to_date strcmp strftime string_agg strpos stuff subdate substr
substring substring_index subtime sum tan time time_format time_to_sec timediff timefromparts
timestampadd timestampdiff to_char to_date to_days to_hex to_number to_seconds to_timestamp today
total translate trim trunc truncate typeof ucase unhex unicode unix_timestamp unixepoch unlikely
upper value var_pop var_samp variance variance_pop week weekday weekofyear width_bucket year
    yearweek
"""
CLASSES = frozenset(_CLASSES.split())
NAMES = frozenset(_NAMES.split())


def is_allowed(function: exp.Func) -> bool:
    """Return True if a query may call this function."""
    if isinstance(function, exp.Anonymous | exp.AnonymousAggFunc):
        return function.name.lower() in NAMES
    return type(function).__name__ in CLASSES


def name_of(function: exp.Func) -> str:
    """Return the function's name for people."""
    if isinstance(function, exp.Anonymous | exp.AnonymousAggFunc):
        return function.name
    return function.sql_name()
