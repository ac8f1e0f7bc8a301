"""Operators of MindSpore's private modules that msnb does not compute: kernels of an Ascend, of clusters, of gradients.

Libraries import them, and construct some while they are imported. An instance is a Primitive, and calling it raises
NotImplementedError with a sentence that says what to do instead.
"""

import functools
from typing import NoReturn

from msnb._util.placeholders import not_yet
from msnb.core.operator.primitive import Primitive

# Reason -> names of classes.
_NAMES: dict[str, str] = {
    "{name} is a gradient kernel; mindspore.grad and mindspore.value_and_grad compute gradients": """
        AdaptiveAvgPool2DGrad AdaptiveAvgPool2DGradExt AdaptiveAvgPool3DGrad AdaptiveAvgPool3DGradExt
        AdaptiveMaxPool2DGrad AdaptiveMaxPool3DGrad AddLayerNormGrad AffineGridGrad AvgPool2DGrad
        AvgPool3DGrad AvgPool3DGradExt AvgPoolGradGe AvgPoolGradV1 AvgPoolGradVm BNTrainingReduceGrad
        BNTrainingUpdateGrad BasicLSTMCellCStateGrad BasicLSTMCellInputGrad BasicLSTMCellWeightGrad
        BatchNormElemtGrad BatchNormGradExt BatchNormGradGrad BatchNormReduceGrad
        BinaryCrossEntropyWithLogitsBackward CTCLossV2Grad CdistGrad CellBackwardHook CholeskyGrad Col2ImGrad
        ConfusionMulGrad ConvolutionGrad ConvolutionStrGrad CropAndResizeGradBoxes CropAndResizeGradImage
        CrossEntropyLossGrad DSDGrad DeformableOffsetsGrad DropoutGradExt DumpGradient
        DynamicBroadcastGradientArgs DynamicGRUV2Grad DynamicRNNGrad EinsumGrad EluGradExt
        EmbeddingDenseBackward EmbeddingLookupCommGrad FlashAttentionScoreGrad FractionalAvgPoolGrad
        FractionalMaxPool3DGradWithFixedKsize FractionalMaxPoolGrad FractionalMaxPoolGradWithFixedKsize
        GRUV2Grad GatherDGradV2 GeluGradExt GetGrad GluGrad GmmBackward GmmBackwardFusion GmmV2Backward
        GmmV2BackwardFusion GridSampler2DGrad GridSampler3DGrad GroupNormGrad GruGradData GruGradWeight
        HShrinkGrad HardtanhGrad IgammaGradA InsertGemV2InBackward InstanceNormV2Grad KLDivGrad
        L1LossBackwardExt LSTMGradData LSTMGradWeight LayerNormGradExt LayerNormGradV3 LeakyReLUGradExt
        LightningIndexerGrad ListAppendAndInsertGrad LogSigmoidGrad LogitGrad LstsqV2Grad LuUnpackGrad
        MSELossGradExt MapTensorGetGrad MaskedSelectGrad MatmulDDSGrad MaxPool3DGrad MaxPool3DGradGrad
        MaxPool3DGradWithArgmax MaxPoolGradV1 MaxPoolGradWithArgmaxV2 MaxPoolGradWithIndices
        MaxPoolGradWithMask MaxUnpool2DGrad MaxUnpool3DGrad MaximumGradGrad MedianGrad MinimumGradGrad
        MishGradExt MoeTokenPermuteGrad MoeTokenUnpermuteGrad MultiMarginLossGrad MultiScaleDeformableAttnGrad
        MultilabelMarginLossGrad MvlgammaGrad NLLLoss2dGrad NLLLossGrad NeighborExchangeV2Grad NsaCompressGrad
        NsaSelectAttentionGrad PSROIPoolingGrad PadV3Grad ParallelResizeBilinearGrad PdistGrad
        PsROIPoolingGrad RandomGammaGrad ReflectionPad1DGrad ReflectionPad2DGrad ReflectionPad3DGrad
        RepeatInterleaveGrad ReplicationPad1DGrad ReplicationPad2DGrad ReplicationPad3DGrad ResizeBicubicGrad
        ResizeLinear1DGrad ResizeNearestNeighborV2Grad ResizeV2Grad RmsNormGrad RotaryPositionEmbeddingGrad
        ScaleAndTranslateGrad ScaleGrad SeluGrad SequenceSliceGrad ShapeMulGrad SiLUGrad SoftMarginLossGrad
        SoftShrinkGrad SoftplusGradExt SparseAddGrad SparseFillEmptyRowsGrad SparseFlashAttentionGrad
        SparseSegmentMeanGrad SparseSegmentSqrtNGrad SparseSegmentSumGrad SparseSliceGrad
        SpeedFusionAttentionGrad SwigluGrad SyncBatchNormGrad ThresholdGrad TraceGrad TraceV2Grad UniqueGrad
        UpdateThorGradient UpsampleBicubic2DGrad UpsampleBilinear2DGrad UpsampleLinear1DGrad
        UpsampleNearest1DGrad UpsampleNearest2DGrad UpsampleNearest3DGrad UpsampleTrilinear3DGrad WKVGrad
    """,
    "{name} is a kernel of a collective; mindspore.mint.distributed has the functions": """
        AllGatherMatmul AllGatherV AlltoAllV AlltoAllVC Barrier BatchISendIRecv DistCommAllGather
        DistCommAllGatherIntoTensor DistCommAllGatherIntoTensorUneven DistCommAllReduce DistCommAllToAllV
        DistCommAllToAllVC DistCommAllToAllVSingle DistCommBarrier DistCommBatchIsendIrecv DistCommBroadcast
        DistCommGather DistCommGatherIntoTensor DistCommIrecv DistCommIsend DistCommReduce
        DistCommReduceScatter DistCommReduceScatterTensor DistCommReduceScatterTensorUneven DistCommScatter
        DistCommScatterTensor InnerCommAllGather InnerCommAllReduce InnerCommAllToAllV InnerCommIrecv
        InnerCommIsend InnerCommReduceScatter MatmulAllReduceAddRmsNorm MatmulReduceScatter NeighborExchange
        NeighborExchangeV2 Receive ReduceScatterV Reshard Send
    """,
    "{name} belongs to MindSpore's compiler; Python's own operators, and those of a Tensor, do the same": """
        AShardIdentity ConcatOffset ConcatOffsetV1 ConvertToDynamic DtypeToEnum DynamicAssign
        DynamicBroadcastTo DynamicResizeNearestNeighbor DynamicStitch EqScalar Format FormatCast GetShape
        GetitemTensorIndexInfo InSequence IsConstant IsDimUnKnown IsParameter LessScalar ListAppend ListInsert
        ListToTensor ListToTuple Load MapCacheIdx MapTensorErase MapTensorGet MapTensorGetData
        MapTensorGetKeys MapTensorGetValues MapTensorPut MixedPrecisionCast PartitionedCall PyExecute
        PyInterpret RefToEmbed Reusing ScalarAdd ScalarBool ScalarDiv ScalarEq ScalarFloorDiv ScalarGe
        ScalarGt ScalarLe ScalarLog ScalarLt ScalarMax ScalarMin ScalarMod ScalarMul ScalarPow ScalarSub
        ScalarUadd ScalarUsub SequenceAdd SequenceAddN SequenceAddOffset SequenceConcat SequenceCount
        SequenceIndex SequenceMax SequenceMin SequenceMul SequenceSlice SequenceSliceSetItem SequenceStack
        SequenceUnstack SequenceZerosLike SetitemTensorIndexInfo SliceGetItem StringToEnum TensorToList
        TensorToTuple TileSize TopTypeof TupleToList TupleToTensor TypeAs UpdateState bit_and bit_or
        list_greater_equal list_greater_than list_le list_lt sequence_len tuple_greater_equal
        tuple_greater_than tuple_le tuple_lt
    """,
    "{name} moves memory; x[...] reads and writes, and ops.move_to changes the device": """
        AsStrided CacheSwapTable CopyToDevice CopyToHost CopyWithSlice CreateSymmetricMemory Detach Free
        GetData GetMem MoveTo PutMem PutMemSignal SelectView SetData SignalOp SignalWaitUntil TensorCopySlices
        ToDevice ToOther UpdateToDevice UpdateToRemote
    """,
    "{name} fuses an update; the optimizers of mindspore.nn and mindspore.mint.optim compute theirs": """
        AdamW ApplyAdagradDA ApplyAdamW ApplyCamePart1 ApplyCamePart2 ApplyCamePart3 ApplyCamePart4
        FusedAdaFactor FusedAdaFactorWithGlobalNorm FusedCastAdamWeightDecay Lamb LambApplyOptimizerAssign
        LambApplyWeightAssign SparseApplyAdagradDA SparseApplyCenteredRMSProp SparseApplyMomentum
        SparseApplyProximalGradientDescent
    """,
    "{name} fuses a normalization; ops.layer_norm, ops.rms_norm and mint.nn.functional.batch_norm are its formulas": """
        AddLayerNormV2 AddRmsNorm BatchNormElemt BatchNormExt BatchNormGatherStatsWithCounts BatchNormStats
        InstanceNormV2 SyncBatchNorm
    """,
    "{name} fuses a layer of experts for an Ascend; ops.matmul, ops.gather and ops.softmax compute one": """
        FFN FFNExt FusedAddTopKDiv Gmm GmmV2 GroupTopk GroupedMatmul GroupedMatmulV2 GroupedMatmulV4
        InnerMoeTokenUnpermute InplaceGroupedMatmulAdd MoeComputeExpertTokens MoeDistributeCombine
        MoeDistributeDispatch MoeFinalizeRouting MoeGatingTopKSoftmax MoeInitRouting MoeInitRoutingV2
        TopKRouter TopPRouter
    """,
    "{name} is a kernel of Ascend's; ops.flash_attention_score, or nn.MultiheadAttention, computes attention": """
        ApplyRotaryPosEmb DynamicNTK FusedInferAttentionScore IncreFlashAttention KVCacheMgr
        KVCacheScatterUpdate KvScaleCache LightningIndexer Mla MlaPreprocess MultiScaleDeformableAttn
        NsaCompress NsaCompressAttention NsaSelectAttention PagedAttention PagedAttentionMask
        PromptFlashAttention ReshapeAndCache RingAttentionUpdate SparseFlashAttention
        SpeedFusionAttention WKV
    """,
    "{name} is a kernel of an Ascend for numbers of few bits; ops.matmul of what they stand for computes the same": """
        AntiQuant DequantSwigluQuant DynamicBlockQuant DynamicQuantExt FakeQuantParam QuantBatchMatmul
        QuantLinearSparse QuantMatmul QuantV2 WeightQuantBatchMatmul
    """,
    "{name} is a kernel for sparse matrices; COOTensor, CSRTensor and their methods are there, and to_dense()": """
        COO2CSR CSR2COO CSRDiv CSRGather CSRMM CSRMV CSRMul CSRReduceSum CSRSparseMatrixToDense
        CSRSparseMatrixToSparseTensor DenseToCSRSparseMatrix DenseToDenseSetOperation
        DenseToSparseSetOperation RaggedTensorToSparse RaggedTensorToTensor SparseAdd SparseAddmm SparseConcat
        SparseCountSparseOutput SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul
        SparseFillEmptyRows SparseMatrixAdd SparseMatrixMatMul SparseMatrixNNZ SparseMatrixOrderingAMD
        SparseMatrixSoftmax SparseMatrixSparseMatMul SparseMatrixTranspose SparseReorder SparseReshape
        SparseSegmentMean SparseSegmentMeanWithNumSegments SparseSegmentSqrtN
        SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments SparseSoftmax
        SparseSoftmaxCrossEntropyWithLogitsV2 SparseSparseMaximum SparseSparseMinimum SparseSplit
        SparseTensorToCSRSparseMatrix SparseToDenseV2
    """,
    "{name} belongs to the optimizer THOR; use nn.Momentum, nn.Adam or nn.Lamb": """
        CholeskyTrsm CusBatchMatMul CusCholeskyTrsm CusFusedAbsMax1 CusImg2Col CusMatMulCube
        CusMatMulCubeDenseLeft CusMatMulCubeDenseRight CusMatMulCubeFraczLeftCast CusMatMulCubeFraczRightMul
        CusMatrixCombine CusTranspose02314 DetTriangle LoadIm2Col NewIm2Col ThorIm2Col
    """,
    "{name} belongs to MindSpore's servers; Python code before or after the network does the same": """
        BatchDilatePolys BatchEnqueue DecodeImage Dequeue OCRDetectionPostHandle OCRDetectionPreHandle
        OCRFindContours OCRIdentifyPreHandle OCRRecognitionPreHandle ResizeAndClipPolys StackDestroy StackInit
        StackPop StackPush StringLength
    """,
    "{name} draws by a seed and an offset; mint.rand, mint.normal, mint.nn.functional.dropout and their like draw": """
        BernoulliExt Dropout2dExt DropoutExt DropoutGenMaskExt FuncDropoutExt InplaceBernoulliScalar
        InplaceBernoulliTensor InplaceExponential InplaceNormal InplaceRandom InplaceUniform MultinomialExt
        NormalFloatFloat NormalFloatTensor NormalTensorFloat NormalTensorTensor RandExt RandInt RandIntLike
        RandLikeExt Randn RandnLike UniformExt
    """,
    "{name} reads a register of Ascend's; amp.all_finite says whether numbers overflowed": """
        NPUClearFloatStatusV2 NPUGetFloatStatusV2
    """,
    "{name} has no counterpart; compose it of other operators, or declare it by msnb.custom_operator": """
        AdjustContrastv2 AllFinite ArgminV2 AvgPoolV1 Centralization ClipByNorm Conv1DPadding Conv2DPadding
        Conv3DPadding ConvTbc Convolution ConvolutionStr Correlate CosineEmbeddingLoss CrossEntropyLoss
        CudnnGRU DCT DCTN DSDMatmul Dilation2DBackpropFilter Dilation2DBackpropInput DropoutDoMaskExt Eigh
        ExtractImagePatches FFTOrtho FFTShapeCopy FractionalAvgPool FractionalMaxPool FuncMaxPool2D GRUV2
        GatherNdExt GenerateEodMask GenerateEodMaskV2 IDCT IDCTN IRFFTDouble InnerIndex InnerInplaceIndexPut
        InnerNonZero InnerUnique InplaceMatmulAdd InplaceStopGradient KMeansCentroids LSTMV2 LayerNormV3
        LpNormV2 LstsqV2 Lu MatmulDDS MaxPoolV1 MaxPoolWithIndices MaxPoolWithMask NLLLoss2d NonZeroWithValue
        NonZeroWithValueShape NpuGelu PSROIPooling PadAndShift ParallelResizeBilinear ProdForceSeA
        PsROIPooling RangeV2 ReLUV3 ResizeV2 RotatedIou SampleDistortedBoundingBoxV2 ScaleAndTranslate
        SelfAdjointEig SetSize SilentCheckV2 SilentCheckV3 SolveTriangular TensorScatterElementsExt TraceV2
        TransposeBatchMatmulTranspose TridiagonalSolve Uniform Vdot ViewDtype
    """,
}


@functools.cache
def _reasons():
    return {name: why.format(name=name) for why, names in _NAMES.items() for name in names.split()}


def list_refused() -> list[str]:
    """Return the names of the operators that msnb does not compute."""
    return sorted(_reasons())


class RefusedOperator(Primitive):
    """An operator that can be constructed with any arguments, and raises NotImplementedError when it is called."""

    _later = ""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(type(self).__name__)
        self.init_attrs.update(kwargs)

    def __call__(self, *args, **kwargs) -> NoReturn:
        raise not_yet(f"mindspore.ops.operations.{self.name}", self._later)


@functools.cache
def refused_operator(name: str) -> type[RefusedOperator] | None:
    """Return the class of an operator that msnb does not compute, None if there is no such operator."""
    why = _reasons().get(name)
    doc = f"{name}: not available, raises NotImplementedError when it is called."
    return why and type(name, (RefusedOperator,), {"_later": why, "__doc__": doc, "__module__": "msnb.ops.operations"})
